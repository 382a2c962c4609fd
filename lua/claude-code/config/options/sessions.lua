--- Options of Claude's sessions.
local t = require("claude-code.config.schema")

---@type claude-code.Option[]
return {
  {
    key = "permissions.answer",
    type = t.boolean,
    default = false,
    description = "Whether `:Claude answer` can answer what Claude asks: permissions, plans and "
      .. "questions. Claude's own dialog is there as well; whoever answers first decides. It holds for "
      .. "a Claude that starts in Neovim afterwards, and for others after `:Claude setup`. What a "
      .. "subagent or a background session asks is answered in Claude's terminal alone.",
  },
  {
    key = "notify.on",
    type = t.list_of(t.one_of("blocked", "error", "done", "idle", "working")),
    default = { "blocked", "error" },
    description = "The states of a Claude session that are reported to you as soon as it has them: "
      .. '"blocked" is a question or a request for a permission, "error" a turn that failed, "done" '
      .. "one that ended. What you have on screen is not reported, nor an edit that has a diff. Several "
      .. "within a second are one report. `{}` reports nothing.",
  },
  {
    key = "notify.by",
    type = t.any_of(t.one_of("auto"), t.func("fun(sessions: claude-code.SessionRow[])")),
    default = "auto",
    description = 'How. "auto": by a message if Neovim has the focus, else by a bell and a notification '
      .. "of the terminal (OSC 9 or 777) around Neovim. A function receives the sessions and does what it "
      .. "likes.",
  },
}
