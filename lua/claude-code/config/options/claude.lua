--- Options for data and permissions that the Claude CLI gets from Neovim, and for its reports.
local t = require("claude-code.config.options.schema")

local function switch(tool, effect)
  return {
    key = "language_tools." .. tool,
    type = t.boolean,
    default = true,
    description = (
      "Whether Claude may %s through your language servers. If not, the tool answers "
      .. "with an error that names this option."
    ):format(effect),
  }
end

---@type claude-code.Option[]
return {
  {
    key = "permissions.plan",
    type = t.boolean,
    default = true,
    description = "Whether a plan of Claude's opens as a document, see |claude-code-plan|. With false "
      .. "it is in Claude's terminal only.",
  },
  {
    key = "permissions.answer",
    type = t.boolean,
    default = false,
    description = "Whether `:Claude answer` can answer what Claude asks, see |claude-code-answer|. It "
      .. "holds for a Claude that starts in Neovim afterwards, and for others after `:Claude "
      .. "setup`.",
  },
  {
    key = "notify.on",
    type = t.list_of(t.one_of("blocked", "error", "done", "idle", "working")),
    default = { "blocked", "error" },
    description = 'The states of a Claude session that are reported to you: "blocked" is a question or '
      .. 'a request for a permission, "error" a turn that failed, "done" one that ended. What '
      .. "you have on screen is not reported, nor an edit that has a diff.",
  },
  {
    key = "notify.by",
    type = t.any_of(t.one_of("auto"), t.func("fun(sessions: claude-code.SessionRow[])")),
    default = "auto",
    description = 'How the states of `notify.on` are shown. "auto": by a message if Neovim has the focus, else by '
      .. "a bell and a notification of the terminal around it (OSC 9). A function receives the "
      .. "sessions.",
  },
  {
    key = "wait_for_unsaved",
    type = t.boolean,
    default = true,
    description = "Whether Claude waits, once in a turn, before it edits lines of a file that you have edited and not "
      .. "saved, in the permission modes that edit without asking. `:w` lets it go on, and it reads the file "
      .. "again; `:Claude go-on`, or a minute, lets it edit the file on disk. It does not wait "
      .. "if you have typed nothing for five minutes, and Claude's shell never does. See "
      .. "|claude-code-unsaved|.",
  },
  {
    key = "keymaps",
    type = t.boolean,
    default = false,
    description = "Whether the suggested mappings are created: <leader>a… and <leader>cd. A key that is mapped "
      .. "already keeps its mapping, and `:checkhealth claude-code` names it.",
  },
  {
    key = "mcp.in_terminal",
    type = t.boolean,
    default = true,
    description = "Whether a CLI that Neovim starts gets the hooks and the MCP server nvim-lsp. They "
      .. "are passed as arguments; no file is changed.",
  },
  {
    key = "mcp.auto_install",
    type = t.boolean,
    default = false,
    description = "Whether each project that you open is set up as :Claude setup does, once and "
      .. "without asking, for a Claude CLI outside of Neovim.",
  },
  {
    key = "send.submit",
    type = t.boolean,
    default = true,
    description = "Whether :Claude diagnostics also submits the prompt.",
  },
  {
    key = "send.focus",
    type = t.boolean,
    default = false,
    description = "Whether the cursor goes to Claude's terminal after you send something there: text, "
      .. "diagnostics or a mention.",
  },
  {
    key = "selection.send",
    type = t.one_of("file", "selection", "none"),
    default = "file",
    description = 'What Claude receives of where you are. "file": the name of the current file, and '
      .. 'what is selected in it. "selection": only what is selected. "none": neither, and '
      .. "requests for the selection get an error. The status line shows what would be sent "
      .. "now.",
  },
  {
    key = "privacy.defaults",
    type = t.boolean,
    default = true,
    description = "Whether files that usually hold secrets are private: `.env*`, keys, certificates, "
      .. "credentials, `.ssh/**` and the like. The whole list is in "
      .. "lua/claude-code/editor/privacy/defaults.lua.",
  },
  {
    key = "privacy.patterns",
    type = t.list_of(t.string),
    default = {},
    description = "Globs of further private files. A glob without `/` matches the file's name, any "
      .. "other one the end of its path; `~/` and `/` begin a full path. The last glob that "
      .. 'matches decides, and `!` makes an exception: { "*.secret", "notes/**", '
      .. '"!.env.example" }. Case is ignored.',
  },
  switch("rename", "rename symbols"),
  switch("code_action", "do quick fixes and refactorings, and organize imports"),
}
