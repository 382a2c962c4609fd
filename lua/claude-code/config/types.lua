---@meta
--- The types of the options. All are set in the plugin's own table; the user's table may leave out any. Made from
--- options/ by `bun run docs`; do not edit.

---@alias claude-code.UserConfig claude-code.Config|{}

---@class claude-code.Config
---@field auto_start "auto"|boolean Whether the server starts with Neovim, so that the Claude CLI can connect.
---The server picks a random port from this range, which includes both ends.
---@field port_range { [1]: integer, [2]: integer }
---@field log claude-code.LogConfig|{}
---@field binary claude-code.BinaryConfig|{}
---@field terminal claude-code.TerminalConfig|{}
---The containers, sandboxes and other machines where Claude may run, by their names.
---@field remotes table<string, claude-code.Remote|fun(folder: string): claude-code.Remote>
---@field permissions claude-code.PermissionsConfig|{}
---@field notify claude-code.NotifyConfig|{}
---Whether Claude waits, once in a turn, before it edits lines that you have edited and not saved, in the permission
---modes that edit without asking.
---@field wait_for_unsaved boolean
---@field keymaps boolean Whether the suggested mappings are created: <leader>a… and <leader>cd.
---@field mcp claude-code.McpConfig|{}
---@field send claude-code.SendConfig|{}
---@field selection claude-code.SelectionConfig|{}
---@field privacy claude-code.PrivacyConfig|{}
---@field language_tools claude-code.LanguageToolsConfig|{}
---@field diff claude-code.DiffConfig|{}
---@field review claude-code.ReviewConfig|{}
---@field diagnostics claude-code.DiagnosticsConfig|{}

---@class claude-code.BinaryConfig
---@field path? string The path of the executable, which replaces the search for it.
---@field download boolean Whether a missing executable is downloaded when it is first needed.
---The address to download from instead of the project's releases: the archive is MIRROR/vVERSION/FILE there, and must
---match the checksum in the plugin.
---@field mirror? string

---@class claude-code.DiagnosticsConfig
---@field block boolean Whether Claude must continue when files that it edited have problems at the end of its turn.
---@field retries integer How often Claude must continue for one prompt.
---@field severity "error"|"warning"|"information"|"hint" The least severe problem that counts.
---Whether problems that a file had before Claude edited it are ignored, and all problems of a file that was not open in
---Neovim.
---@field only_new boolean
---@field ignore_sources string[] Problems from these sources are ignored, by the names that Neovim shows: { "cspell" }.
---@field ignore_files string[] Problems in files that match these globs are ignored: { "vendor/**", "*.gen.ts" }.
---@field after_edit "auto"|boolean Whether Claude receives a file's new problems right after it edited the file.

---@class claude-code.DiffConfig
---@field layout "vertical"|"tab"|"inline" How a proposed edit is shown.
---@field open "always"|"waits"|"never" What a proposed edit does to your windows.
---@field focus boolean Whether the cursor moves to a diff that opens.
---@field keys claude-code.DiffKeysConfig|{}

---@class claude-code.DiffKeysConfig
---@field accept string|string[]|false
---@field reject string|string[]|false
---@field reject_with_reason string|string[]|false
---@field next_hunk string|string[]|false
---@field previous_hunk string|string[]|false
---@field accept_hunk string|string[]|false
---@field drop_hunk string|string[]|false
---@field next_diff string|string[]|false
---@field previous_diff string|string[]|false
---@field merge string|string[]|false
---@field help string|string[]|false

---@class claude-code.LanguageToolsConfig
---@field rename boolean Whether Claude may rename symbols through your language servers.
---Whether Claude may do quick fixes and refactorings, and organize imports through your language servers.
---@field code_action boolean

---@class claude-code.LogConfig
---@field level "debug"|"info"|"warn"|"error"|"off" The lowest severity of messages in the log (:Claude log).

---@class claude-code.McpConfig
---Whether a CLI that Neovim starts gets the hooks, the mod and the MCP server nvim-lsp, as a plugin that changes no
---file.
---@field in_terminal boolean
---Whether each project that you open is set up once, as by :Claude setup but without asking, for a Claude CLI outside
---of Neovim.
---@field auto_install boolean

---@class claude-code.NotifyConfig
---The states of Claude sessions that are reported to you: "blocked" is a question or a request for permission, "error"
---a failed turn, "done" the end of a turn.
---@field on ("blocked"|"error"|"done"|"idle"|"working")[]
---@field by "auto"|fun(sessions: claude-code.SessionRow[]) How the states of `notify.on` are shown.

---@class claude-code.PermissionsConfig
---@field plan boolean Whether Claude's plans open as documents, see |claude-code-plan|.
---@field answer boolean Whether `:Claude answer` can answer Claude's questions, see |claude-code-answer|.

---@class claude-code.PrivacyConfig
---Whether files that usually hold secrets are private: `.env*`, keys, certificates, credentials, `.ssh/**` and the
---like.
---@field defaults boolean
---@field patterns string[] Globs of further private files.

---@class claude-code.ReviewConfig
---@field signs "always"|"never" Whether the sign column shows Claude's changes that you have not reviewed.
---@field message boolean Whether a message at the end of Claude's turn reports how much there is to review.
---Globs, as in `privacy.patterns`, of files that the title of a review's list only counts, such as generated files.
---@field ignore string[]
---@field keys claude-code.ReviewKeysConfig|{}

---@class claude-code.ReviewKeysConfig
---@field keep string|string[]|false
---@field undo string|string[]|false
---@field next_hunk string|string[]|false
---@field previous_hunk string|string[]|false
---@field next_file string|string[]|false
---@field previous_file string|string[]|false
---@field keep_file string|string[]|false
---@field undo_file string|string[]|false
---@field alike string|string[]|false
---@field back string|string[]|false
---@field why string|string[]|false
---@field turn string|string[]|false
---@field done string|string[]|false
---@field layout string|string[]|false
---@field form string|string[]|false
---@field help string|string[]|false
---@field comment string|string[]|false
---@field message string|string[]|false

---@class claude-code.SelectionConfig
---@field send "file"|"selection"|"none" What Claude receives about your position.

---@class claude-code.SendConfig
---@field submit boolean Whether :Claude diagnostics also submits the prompt.
---Whether the cursor moves to Claude's terminal after you send text, diagnostics or a mention there.
---@field focus boolean

---@class claude-code.TerminalConfig
---Where the CLI runs: |claude-code-terminal-provider|.
---@field provider "native"|"none"|"snacks"|"tmux"|claude-code.TerminalProvider
---@field keep boolean Whether a terminal that can outlive Neovim does, for the next Neovim of the project.
---@field position "auto"|"right"|"left"|"bottom"|"top"|"float" The side of the editor where the CLI's window opens.
---@field size? number The CLI window's share of the editor's width or height: by default 0.36, for a float 0.8 of both.
---@field winbar boolean Whether a bar above Claude's window shows the names and states of two or more sessions.
---@field cwd? string|fun(folder: string): string? The folder in which the CLI starts, by default that of the tab page.
---@field env table<string, string> More environment variables for each Claude CLI that Neovim starts.
---@field command string|string[] The Claude CLI: a name, or a list with arguments.
---@field mod boolean Whether the CLI loads the plugin's code (a mod), see |claude-code-mod|.
---@field args string[] More arguments for each Claude CLI that Neovim starts.
---The name of the remote in `remotes` where the CLI runs; false: this machine.
---@field remote string|false|fun(folder: string): string?
---The permission mode in which the CLI starts; false: the mode of the CLI's settings, see |claude-code-two-ways|.
---@field permission_mode "default"|"plan"|"acceptEdits"|"auto"|"dontAsk"|"bypassPermissions"|false
---@field keys claude-code.TerminalKeysConfig|{}

---@class claude-code.TerminalKeysConfig
---@field leave string|false
---@field transcript string|false
---@field toggle string|false
