--- Options of what the Claude CLI receives from Neovim.
local t = require("claude-code.config.schema")

---@type claude-code.Option[]
return {
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
    key = "mention.wait_seconds",
    type = t.integer(0, 3600),
    default = 60,
    description = "Seconds that :Claude mention waits for the Claude CLI to connect. With 0 it "
      .. "fails at once if no CLI is connected.",
  },
  {
    key = "selection.enabled",
    type = t.boolean,
    default = true,
    description = "Whether Claude receives your selection and the name of the current file. If false, "
      .. "requests for the selection get an error; other requests, such as for open files or the "
      .. "text around the cursor (editor/context), still get an answer.",
  },
  {
    key = "selection.debounce_ms",
    type = t.integer(0, 10000),
    default = 300,
    description = "Milliseconds without a change before a selection is sent.",
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
    description = "Globs of further private files. Neovim never sends their text or names to Claude. "
      .. "A glob without `/` matches the file's name, any other one the end of its path; `~/` and `/` "
      .. "begin a full path. The last glob that matches decides, and `!` makes an exception: "
      .. '{ "*.secret", "notes/**", "!.env.example" }. Case is ignored.',
  },
}
