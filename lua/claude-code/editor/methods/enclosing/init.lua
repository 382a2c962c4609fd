--- The function or class around a position: by tree-sitter where a parser is there, else by a
--- language server's document symbols, else by the look of the text. Never blocks.
local M = {}

---@param buf integer
---@param lnum integer 0-based
---@param byte integer 0-based
---@return string? name such as `Greeter.hello`; nil outside of any
---@return true? pending a language server was asked and may name it better soon
function M.name(buf, lnum, byte)
  local known, name = require("claude-code.editor.methods.enclosing.syntax").name(buf, lnum, byte)
  if known then
    return name
  end
  local pending
  known, name, pending = require("claude-code.editor.methods.enclosing.symbols").name(buf, lnum)
  if known then
    return name
  end
  return require("claude-code.editor.methods.enclosing.text").name(buf, lnum), pending
end

return M
