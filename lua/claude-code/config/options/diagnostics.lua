--- Options of the problems that Claude receives, and that keep it from ending its turn.
local t = require("claude-code.config.options.schema")

---@type claude-code.Option[]
return {
  {
    key = "diagnostics.block",
    type = t.boolean,
    description = "Whether Claude must continue when files that it edited have problems at the end of "
      .. "its turn. Needs the hooks: `:Claude` passes them, for other CLIs see "
      .. ":Claude setup.",
  },
  {
    key = "diagnostics.deadline_ms",
    type = t.integer(0, 8000),
    description = "Milliseconds that the end of a turn waits for language servers to check what was "
      .. "written.",
  },
  {
    key = "diagnostics.busy_deadline_ms",
    type = t.integer(0, 60000),
    description = "Milliseconds that the end of a turn waits in all while a language server is still "
      .. "starting or indexing ($/progress). It waits for each such time once.",
  },
  {
    key = "diagnostics.retries",
    type = t.integer(1, 7),
    description = "How often Claude must continue for one prompt. After that it may end its turn "
      .. "whatever the problems.",
  },
  {
    key = "diagnostics.severity",
    type = t.one_of("error", "warning", "information", "hint"),
    description = "The least severe problem that counts.",
  },
  {
    key = "diagnostics.only_new",
    type = t.boolean,
    description = "Whether problems that a file had before Claude edited it are ignored. All problems "
      .. "of a file that was not open in Neovim are then ignored, since they may be old.",
  },
  {
    key = "diagnostics.ignore_sources",
    type = t.list_of(t.string),
    description = "Problems from these sources are ignored. The names are those that Neovim shows: "
      .. '{ "cspell" }.',
  },
  {
    key = "diagnostics.ignore_files",
    type = t.list_of(t.string),
    description = "Problems in files that match these globs are ignored: "
      .. '{ "vendor/**", "*.gen.ts" }.',
  },
  {
    key = "diagnostics.after_edit",
    type = t.any_of(t.one_of("auto"), t.boolean),
    description = "Whether Claude receives a file's new problems right after it edited the file. "
      .. '"auto": only if the CLI is not connected to Neovim (claude -p).',
  },
}
