--- Options of the problems that Claude receives, and that keep it from ending its turn.
local t = require("claude-code.config.options.schema")

---@type claude-code.Option[]
return {
  {
    key = "diagnostics.block",
    type = t.boolean,
    default = true,
    description = "Whether Claude must continue when files that it edited have problems at the end of "
      .. "its turn. Needs the hooks: `:Claude` passes them, for other CLIs see "
      .. ":Claude setup.",
  },
  {
    key = "diagnostics.retries",
    type = t.integer(1, 7),
    default = 1,
    description = "How often Claude must continue for one prompt. After that it may end its turn "
      .. "whatever the problems.",
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
    description = "Whether problems that a file had before Claude edited it are ignored, and all those "
      .. "of a file that was not open in Neovim.",
  },
  {
    key = "diagnostics.ignore_sources",
    type = t.list_of(t.string),
    default = {},
    description = "Problems from these sources are ignored. The names are those that Neovim shows: "
      .. '{ "cspell" }.',
  },
  {
    key = "diagnostics.ignore_files",
    type = t.list_of(t.string),
    default = {},
    description = "Problems in files that match these globs are ignored: "
      .. '{ "vendor/**", "*.gen.ts" }.',
  },
  {
    key = "diagnostics.after_edit",
    type = t.any_of(t.one_of("auto"), t.boolean),
    default = "auto",
    description = "Whether Claude receives a file's new problems right after it edited the file. "
      .. '"auto": only if the CLI is not connected to Neovim (claude -p).',
  },
}
