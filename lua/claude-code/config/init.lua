--- The options of setup(). One list gives the defaults, the validation and the documentation:
--- a new option is one entry here, and a field in each of the two families of types.
local t = require("claude-code.config.schema")

local M = {}

--- What a user writes: every field may be left out.
---@class claude-code.UserConfig
---@field auto_start? "auto"|boolean|fun(context: claude-code.AutoStartContext): boolean?
---@field binary? claude-code.UserBinaryConfig
---@field diagnostics? claude-code.UserDiagnosticsConfig
---@field diff? claude-code.UserDiffConfig
---@field execute_code? claude-code.UserExecuteCodeConfig
---@field log? claude-code.UserLogConfig
---@field keymaps? boolean
---@field mcp? claude-code.UserMcpConfig
---@field log_events? boolean
---@field mention? claude-code.UserMentionConfig
---@field port_range? { [1]: integer, [2]: integer }
---@field privacy? claude-code.UserPrivacyConfig
---@field selection? claude-code.UserSelectionConfig
---@field send? claude-code.UserSendConfig
---@field terminal? claude-code.UserTerminalConfig

---@class claude-code.UserBinaryConfig
---@field path? string
---@field source? claude-code.BinaryChoice
---@field download? boolean|"prompt"
---@field mirror? string

---@class claude-code.UserDiagnosticsConfig
---@field block? boolean
---@field deadline_ms? integer
---@field retries? integer
---@field severity? claude-code.SeverityName
---@field only_new? boolean
---@field ignore_sources? string[]
---@field ignore_files? string[]
---@field after_edit? "auto"|boolean
---@field after_edit_deadline_ms? integer

---@class claude-code.UserDiffConfig
---@field layout? claude-code.DiffLayout
---@field focus? boolean
---@field quiet_ms? integer
---@field keys? table<claude-code.DiffAction, string|string[]|false>

---@class claude-code.UserExecuteCodeConfig
---@field enabled? boolean
---@field languages? table<string, string[]>
---@field default_language? string
---@field timeout_ms? integer
---@field max_output_bytes? integer

---@class claude-code.UserLogConfig
---@field level? claude-code.LogLevel

---@class claude-code.UserMcpConfig
---@field in_terminal? boolean
---@field auto_install? boolean

---@class claude-code.UserMentionConfig
---@field wait_seconds? integer

---@class claude-code.UserPrivacyConfig
---@field defaults? boolean
---@field patterns? string[]

---@class claude-code.UserSelectionConfig
---@field enabled? boolean
---@field debounce_ms? integer
---@field max_bytes? integer

---@class claude-code.UserSendConfig
---@field submit? boolean

---@class claude-code.UserTerminalConfig
---@field args? string[]
---@field command? string|string[]
---@field permission_mode? claude-code.PermissionMode|false
---@field position? "left"|"right"|"top"|"bottom"
---@field provider? "native"|"snacks"|"tmux"|"none"|claude-code.TerminalProvider
---@field size? number

--- What the plugin works with: complete and checked.
---@class claude-code.Config
---@field auto_start "auto"|boolean|fun(context: claude-code.AutoStartContext): boolean?
---@field binary claude-code.BinaryConfig
---@field diagnostics claude-code.DiagnosticsConfig
---@field diff claude-code.DiffConfig
---@field execute_code claude-code.ExecuteCodeConfig
---@field log claude-code.LogConfig
---@field keymaps boolean
---@field mcp claude-code.McpConfig
---@field log_events boolean
---@field mention claude-code.MentionConfig
---@field port_range { [1]: integer, [2]: integer } lowest and highest port, both included
---@field privacy claude-code.PrivacyConfig
---@field selection claude-code.SelectionConfig
---@field send claude-code.SendConfig
---@field terminal claude-code.TerminalConfig

---@class claude-code.BinaryConfig
---@field path? string
---@field source claude-code.BinaryChoice
---@field download boolean|"prompt"
---@field mirror? string

---@class claude-code.DiagnosticsConfig
---@field block boolean
---@field deadline_ms integer
---@field retries integer
---@field severity claude-code.SeverityName
---@field only_new boolean
---@field ignore_sources string[]
---@field ignore_files string[]
---@field after_edit "auto"|boolean
---@field after_edit_deadline_ms integer

---@class claude-code.DiffConfig
---@field layout claude-code.DiffLayout
---@field focus boolean
---@field quiet_ms integer
---@field keys table<claude-code.DiffAction, string|string[]|false>

---@class claude-code.ExecuteCodeConfig
---@field enabled boolean
---@field languages table<string, string[]>
---@field default_language string
---@field timeout_ms integer
---@field max_output_bytes integer

---@class claude-code.LogConfig
---@field level claude-code.LogLevel

---@class claude-code.McpConfig
---@field in_terminal boolean
---@field auto_install boolean

---@class claude-code.MentionConfig
---@field wait_seconds integer

---@class claude-code.PrivacyConfig
---@field defaults boolean
---@field patterns string[]

---@class claude-code.SelectionConfig
---@field enabled boolean
---@field debounce_ms integer
---@field max_bytes integer

---@class claude-code.SendConfig
---@field submit boolean

---@class claude-code.TerminalConfig
---@field args string[]
---@field command string|string[]
---@field permission_mode claude-code.PermissionMode|false
---@field position "left"|"right"|"top"|"bottom"
---@field provider "native"|"snacks"|"tmux"|"none"|claude-code.TerminalProvider
---@field size number

---@alias claude-code.BinaryChoice "auto"|"build"|"managed"|"system"
---@alias claude-code.DiffLayout "vertical"|"horizontal"|"tab"|"inline"
---@alias claude-code.SeverityName "error"|"warning"|"information"|"hint"
---@alias claude-code.PermissionMode "default"|"plan"|"acceptEdits"|"auto"|"dontAsk"|"bypassPermissions"
---@alias claude-code.LogLevel "debug"|"info"|"warn"|"error"|"off"

---@type claude-code.Type
local port_range = {
  expected = "two ports { lowest, highest } from 1024 to 65535",
  accepts = function(value)
    local port = t.integer(1024, 65535)
    return vim.islist(value)
      and #value == 2
      and port.accepts(value[1])
      and port.accepts(value[2])
      and value[1] <= value[2]
  end,
}

---@type claude-code.Type
local commands = {
  expected = 'a table of commands such as { python = { "python3", "-" } }',
  accepts = function(value)
    local command = t.list_of(t.string)
    return type(value) == "table"
      and next(value) ~= nil
      and vim.iter(pairs(value)):all(function(language, words)
        return type(language) == "string" and command.accepts(words) and #words > 0
      end)
  end,
}

--- What a provider is: claude-code.TerminalProvider in terminal/provider.lua.
local terminal_provider = t.table_of_functions(
  { "open", "close", "send", "is_open" },
  { "toggle", "focus", "submit", "is_visible" }
)

---@type claude-code.Type
local command = {
  expected = "a program's name, or a list of it and its arguments",
  accepts = function(value)
    local name = value
    if type(value) == "table" and t.list_of(t.string).accepts(value) then
      name = value[1]
    end
    return type(name) == "string" and name ~= ""
  end,
}

---@type claude-code.Type
local download_url = {
  expected = "an https:// URL (http:// for 127.0.0.1 alone)",
  accepts = function(value)
    return type(value) == "string" and value:match("^https?://[^/]") ~= nil
  end,
}

---@param action claude-code.DiffAction
---@param default string|string[]
---@param effect string
---@return claude-code.Option
local function diff_key(action, default, effect)
  return {
    key = "diff.keys." .. action,
    type = t.any_of(t.string, t.list_of(t.string), t.one_of(false)),
    default = default,
    description = ("In a diff, this key, or each of these, %s. `false`: no key."):format(effect),
  }
end

---@type claude-code.Option[]
M.options = {
  {
    key = "auto_start",
    type = t.any_of(t.one_of("auto"), t.boolean, t.func),
    default = "auto",
    description = "Whether this Neovim offers itself to the Claude CLI once it has started. "
      .. '"auto": yes, unless it edits for another program (git, crontab, a pager, …) or its '
      .. "workspace would be the home folder or one above it. A function gets "
      .. "{ reason, folders, argv } and answers true or false.",
  },
  {
    key = "binary.path",
    type = t.string,
    description = "The executable to run; nothing else is looked for then. `~` and `$VAR` expand.",
  },
  {
    key = "binary.source",
    type = t.one_of("auto", "build", "managed", "system"),
    default = "auto",
    description = 'Where the executable comes from: "build" is dist/ in the plugin\'s own folder, '
      .. '"managed" the downloaded one, "system" the one on $PATH; "auto" takes the first of them.',
  },
  {
    key = "binary.download",
    type = t.any_of(t.boolean, t.one_of("prompt")),
    default = true,
    description = "Whether the executable is downloaded when it is first needed and not there. "
      .. '"prompt" asks before. Not without a UI: there :ClaudeCodeInstall does it.',
  },
  {
    key = "binary.mirror",
    type = download_url,
    description = "Where to download from instead of the project's releases: the archive is at "
      .. "MIRROR/vVERSION/FILE there. It is checked against the sum in the plugin either way.",
  },
  {
    key = "diagnostics.block",
    type = t.boolean,
    default = true,
    description = "Whether Claude may not end its turn while files it edited have problems. Needs "
      .. "the hooks: see :ClaudeInstallMCP.",
  },
  {
    key = "diagnostics.deadline_ms",
    type = t.integer(0, 8000),
    default = 2000,
    description = "How long the end of a turn waits for language servers to look at what was written.",
  },
  {
    key = "diagnostics.retries",
    type = t.integer(1, 7),
    default = 1,
    description = "How often Claude is held back for one prompt; then it may stop whatever is wrong.",
  },
  {
    key = "diagnostics.severity",
    type = t.one_of("error", "warning", "information", "hint"),
    default = "warning",
    description = "The least severe problem that counts.",
  },
  {
    key = "diagnostics.only_new",
    type = t.boolean,
    default = false,
    description = "Whether only problems count that a file did not have before Claude edited it. Of a "
      .. "file that was not open in Neovim that is not known; its problems do not count then.",
  },
  {
    key = "diagnostics.ignore_sources",
    type = t.list_of(t.string),
    default = {},
    description = 'Sources whose problems do not count, as Neovim shows them: { "cspell" }.',
  },
  {
    key = "diagnostics.ignore_files",
    type = t.list_of(t.string),
    default = {},
    description = 'Files whose problems do not count, as globs: { "vendor/**", "*.gen.ts" }.',
  },
  {
    key = "diagnostics.after_edit",
    type = t.any_of(t.one_of("auto"), t.boolean),
    default = "auto",
    description = "Whether Claude hears of a file's new problems right after it edited the file. "
      .. '"auto": where it does not hear of them by the connection to the editor (claude -p).',
  },
  {
    key = "diagnostics.after_edit_deadline_ms",
    type = t.integer(0, 5000),
    default = 1500,
    description = "How long language servers are waited for after each edit, to tell that.",
  },
  {
    key = "diff.layout",
    type = t.one_of("vertical", "horizontal", "tab", "inline"),
    default = "vertical",
    description = 'How a proposed edit is shown. "vertical": the file on disk and the proposal side '
      .. 'by side; "horizontal": one above the other; "tab": side by side on a tab page of its own; '
      .. '"inline": the proposal in the file\'s window, what it deletes as virtual lines. Where the '
      .. "room is too little for two sides it is shown inline.",
  },
  {
    key = "diff.focus",
    type = t.boolean,
    default = true,
    description = "Whether the cursor moves to a diff that opens.",
  },
  {
    key = "diff.quiet_ms",
    type = t.integer(0, 5000),
    default = 400,
    description = "What you type for something else decides nothing: a diff that has appeared hears "
      .. "no key until none was typed for so long. It appears only after a pause like that, or in "
      .. "another window while you type in a terminal, and takes the cursor after one twice as long "
      .. "there. 0: at once.",
  },
  diff_key("accept", { "<CR>", "ZZ" }, "accepts the proposal, as you edited it"),
  diff_key("reject", { "q", "ZQ" }, "rejects it"),
  diff_key("next_hunk", "]c", "moves to the next hunk"),
  diff_key("previous_hunk", "[c", "moves to the previous one"),
  diff_key(
    "accept_hunk",
    "ga",
    "accepts the hunk under the cursor, or no longer; once one is accepted like this, accepting the "
      .. "proposal takes such hunks only"
  ),
  diff_key("drop_hunk", "gr", "puts the old lines of the hunk back; `u` undoes that"),
  diff_key("next_diff", "]f", "shows the next of several proposals that wait"),
  diff_key("previous_diff", "[f", "shows the previous one"),
  diff_key("merge", "gm", "merges unsaved edits of the file into the proposal, by git"),
  {
    key = "execute_code.enabled",
    type = t.boolean,
    default = false,
    description = "Whether Claude may run code with the tool executeCode: outside Neovim, in the "
      .. "workspace, with your rights. Claude asks you before each run.",
  },
  {
    key = "execute_code.languages",
    type = commands,
    default = { python = { "python3", "-" } },
    description = "The command that runs each language; it gets the code on its stdin.",
  },
  {
    key = "execute_code.default_language",
    type = t.string,
    default = "python",
    description = "The language of code that comes without one.",
  },
  {
    key = "execute_code.timeout_ms",
    type = t.integer(100, 3600000),
    default = 30000,
    description = "A run that takes longer is ended, with everything it started.",
  },
  {
    key = "execute_code.max_output_bytes",
    type = t.integer(1, 100 * 1024 * 1024),
    default = 1024 * 1024,
    description = "What a run prints beyond this, to stdout or to stderr, is dropped.",
  },
  {
    key = "log.level",
    type = t.one_of("debug", "info", "warn", "error", "off"),
    default = "info",
    description = "How much is written to the file that :ClaudeCodeLog opens.",
  },
  {
    key = "keymaps",
    type = t.boolean,
    default = false,
    description = "Whether the suggested mappings are made: those below <leader>a, and <leader>cd.",
  },
  {
    key = "mcp.in_terminal",
    type = t.boolean,
    default = true,
    description = "Whether a Claude CLI that is started from Neovim gets the hooks and the MCP server "
      .. "nvim-lsp, by its arguments; no file is changed for that.",
  },
  {
    key = "mcp.auto_install",
    type = t.boolean,
    default = false,
    description = "Whether each project that is opened is set up as :ClaudeInstallMCP does, once and "
      .. "without asking, for a Claude CLI outside of Neovim.",
  },
  {
    key = "log_events",
    type = t.boolean,
    default = false,
    description = "Whether clients are told which of the plugin's commands you run "
      .. "(`log_event`, which the Claude CLI counts in its telemetry).",
  },
  {
    key = "mention.wait_seconds",
    type = t.integer(0, 3600),
    default = 60,
    description = "How long :ClaudeAtMention waits for the Claude CLI to connect before it gives up "
      .. "and says so; 0 refuses at once.",
  },
  {
    key = "port_range",
    type = port_range,
    default = { 10000, 65535 },
    description = "The port is drawn from these, both ends included.",
  },
  {
    key = "privacy.defaults",
    type = t.boolean,
    default = true,
    description = "Whether files that hold secrets by custom are private: `.env*`, keys, "
      .. "certificates, credentials, `.ssh/**` and the like (the list stands in "
      .. "lua/claude-code/editor/privacy/init.lua).",
  },
  {
    key = "privacy.patterns",
    type = t.list_of(t.string),
    default = {},
    description = "Globs for further files whose text and names Claude never gets from Neovim. "
      .. "Without a `/` they are matched against the file's name, else against the end of its path; "
      .. "`~/` and `/` begin a whole path. The last one that matches decides, and `!` before it "
      .. 'makes an exception: { "*.secret", "notes/**", "!.env.example" }. Case is ignored.',
  },
  {
    key = "selection.enabled",
    type = t.boolean,
    default = true,
    description = "Whether Claude is told what is selected, and which file one is in. If not, who "
      .. "asks for the selection is told that it is off; other questions, such as which files are "
      .. "open or what stands around the cursor (editor/context), are still answered.",
  },
  {
    key = "selection.debounce_ms",
    type = t.integer(0, 10000),
    default = 300,
    description = "Milliseconds without a change before a selection is told.",
  },
  {
    key = "selection.max_bytes",
    type = t.integer(0, 10000000),
    default = 100000,
    description = "Selected text is cut at this size, and the answer to who asked for it says so "
      .. "(`truncated`). The Claude CLI uses the first 2000 characters of what it is told.",
  },
  {
    key = "send.submit",
    type = t.boolean,
    default = true,
    description = "Whether :ClaudeSendWithDiagnostics also sends off the prompt it has filled.",
  },
  {
    key = "terminal.args",
    type = t.list_of(t.string),
    default = {},
    description = "Arguments for each Claude CLI that is started from here.",
  },
  {
    key = "terminal.command",
    type = command,
    default = "claude",
    description = "The Claude CLI, as a name or a list with arguments.",
  },
  {
    key = "terminal.permission_mode",
    type = t.any_of(
      t.one_of("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"),
      t.one_of(false)
    ),
    default = "default",
    description = "The permission mode in which the CLI starts. It shows its edits as diffs in "
      .. '"default" and "plan" only; with false none is passed, and the CLI may start in "auto", '
      .. "where it does not. An argument --permission-mode overrides this.",
  },
  {
    key = "terminal.position",
    type = t.one_of("right", "left", "bottom", "top"),
    default = "right",
    description = "The side of the editor at which the CLI's window opens.",
  },
  {
    key = "terminal.provider",
    type = t.any_of(t.one_of("native", "snacks", "tmux", "none"), terminal_provider),
    default = "native",
    description = 'Where the CLI runs: "native" is a terminal of Neovim\'s own, "snacks" one of '
      .. 'folke/snacks.nvim, "tmux" a pane beside Neovim; with "none" you start it yourself. A '
      .. "table is a provider of your own, see |claude-code-terminal-provider|.",
  },
  {
    key = "terminal.size",
    type = t.number(0.1, 0.9),
    default = 0.36,
    description = "The share of the editor's width (or height) that the CLI's window takes.",
  },
}

---@type claude-code.Config?
local current

--- Checks and takes over what the user gave; tells them, in one message, what cannot be used.
---@param given? claude-code.UserConfig
---@return string[] problems
function M.setup(given)
  local problems
  current, problems = t.resolve(M.options, given)
  require("claude-code.messages.log").configure(current.log)
  if #problems > 0 then
    local text =
      "%d option%s cannot be used:\n  %s\nThe others are in effect; see :help claude-code-options"
    local list = table.concat(problems, "\n  ")
    require("claude-code.messages.notify").error(
      text:format(#problems, #problems == 1 and "" or "s", list)
    )
  end
  return problems
end

--- The options in effect: the defaults until setup() is called.
---@return claude-code.Config
function M.get()
  current = current or t.resolve(M.options, nil)
  return current
end

---@param value any
---@return any value without the functions in it
local function without_functions(value)
  if type(value) ~= "table" or vim.islist(value) then
    return value
  end
  local result = vim.empty_dict()
  for key, item in pairs(value) do
    if type(item) ~= "function" then
      result[key] = without_functions(item)
    end
  end
  return result
end

--- The options as the executable gets them in its launch line: functions left out.
---@return table
function M.plain()
  return without_functions(vim.deepcopy(M.get()))
end

return M
