--- Options of the tools by which Claude uses the language servers.
local t = require("claude-code.config.schema")

---@param tool string
---@param effect string
---@return claude-code.Option
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
  switch("rename", "rename symbols and move files"),
  switch("code_action", "do quick fixes and refactorings, format, and organize imports"),
}
