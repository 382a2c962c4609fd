--- Options for data and permissions that the Claude CLI gets from Neovim, and for its reports.
local t = require("claude-code.config.options.schema")
local option = t.option

local states = t.list_of(t.one_of("blocked", "error", "done", "idle", "working"))
local notifier = t.any_of(t.one_of("auto"), t.func("fun(sessions: claude-code.SessionRow[])"))

local function language_tool(name, effect)
  return option("language_tools." .. name, t.boolean, true, {
    "Whether Claude may "
      .. effect
      .. " through your language servers. If not, the tool answers with an error that",
    "names this option.",
  })
end

---@type claude-code.Option[]
return {
  option("permissions.plan", t.boolean, true, {
    "Whether Claude's plans open as documents, see |claude-code-plan|. If not, they are only in Claude's terminal.",
  }),
  option("permissions.answer", t.boolean, false, {
    "Whether `:Claude answer` can answer Claude's questions, see |claude-code-answer|.",
  }),
  option("notify.on", states, { "blocked", "error" }, {
    'The states of Claude sessions that are reported to you: "blocked" is a question or a request for permission,',
    '"error" a failed turn, "done" the end of a turn. Sessions on your screen, and edits with a diff, are not',
    "reported.",
  }),
  option("notify.by", notifier, "auto", {
    'How the states of `notify.on` are shown. "auto": by a message if Neovim has the focus, otherwise by a bell and a',
    "notification of the terminal around it (OSC 9). A function receives the sessions.",
  }),
  option("wait_for_unsaved", t.boolean, true, {
    "Whether Claude waits, once in a turn, before it edits lines that you have edited and not saved, in the",
    "permission modes that edit without asking. After `:w` it reads the file again; after `:Claude go-on`, or a",
    "minute, it edits the file on disk. It does not wait if you have typed nothing for five minutes, and Claude's",
    "shell never waits. See |claude-code-unsaved|.",
  }),
  option("keymaps", t.boolean, false, {
    "Whether the suggested mappings are created: <leader>a… and <leader>cd. Your own mappings stay, and",
    "`:checkhealth claude-code` names their keys.",
  }),
  option("mcp.in_terminal", t.boolean, true, {
    "Whether a CLI that Neovim starts gets the hooks, the mod and the MCP server nvim-lsp, as a plugin that changes",
    "no file.",
  }),
  option("mcp.auto_install", t.boolean, false, {
    "Whether each project that you open is set up once, as by :Claude setup but without asking, for a Claude CLI",
    "outside of Neovim.",
  }),
  option("send.submit", t.boolean, true, {
    "Whether :Claude diagnostics also submits the prompt.",
  }),
  option("send.focus", t.boolean, false, {
    "Whether the cursor moves to Claude's terminal after you send text, diagnostics or a mention there.",
  }),
  option("selection.send", t.one_of("file", "selection", "none"), "file", {
    'What Claude receives about your position. "file": the name of the current file and the selection in it.',
    '"selection": only the selection. "none": neither, and requests for the selection get an error. The status line',
    "shows what would be sent now.",
  }),
  option("privacy.defaults", t.boolean, true, {
    "Whether files that usually hold secrets are private: `.env*`, keys, certificates, credentials, `.ssh/**` and the",
    "like. lua/claude-code/editor/privacy/defaults.lua has the whole list.",
  }),
  option("privacy.patterns", t.list_of(t.string), {}, {
    "Globs of further private files. A glob without `/` matches the file's name, any other one the end of its path;",
    "`~/` and `/` begin a full path. The last matching glob decides, and `!` makes an exception:",
    '{ "*.secret", "notes/**", "!.env.example" }. Case is ignored.',
  }),
  language_tool("rename", "rename symbols"),
  language_tool("code_action", "do quick fixes and refactorings, and organize imports"),
}
