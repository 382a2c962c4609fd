--- The function or class around a position, by tree-sitter. Grammars differ in their node types, yet
--- most agree: the type contains function, method or class, and a field holds the name.
local M = {}

---Bigger files are not parsed: the user would notice the pause of a first parse.
local MOST_BYTES = 512 * 1024

local KINDS =
  { "function", "method", "class", "struct", "interface", "module", "namespace", "impl" }
---Types that contain one of the words above and define nothing.
local OTHERS =
  { "call", "type", "body", "declarator", "parameter", "argument", "modifier", "specifier" }

---@param kind string node type
local function defines(kind)
  local function has(word)
    return kind:find(word, 1, true) ~= nil
  end
  return vim.iter(KINDS):any(has) and not vim.iter(OTHERS):any(has)
end

---@param node TSNode
---@param names string[] field names, best first
---@return TSNode?
local function field(node, names)
  for _, name in ipairs(names) do
    local found = node:field(name)[1]
    if found then
      return found
    end
  end
end

---The node that holds the name: in C it hides in declarators, and a function that is a value takes
---the name of what it is assigned to.
---@param node TSNode
---@return TSNode?
local function name_node(node)
  local name = field(node, { "name" })
  local declarator = field(node, { "declarator" })
  while not name and declarator do
    name = field(declarator, { "name" })
    local inner = field(declarator, { "declarator" })
    if not inner then
      return name or declarator
    end
    declarator = inner
  end
  local parent = node:parent()
  if not name and parent and not defines(parent:type()) then
    name = field(parent, { "name", "key", "left" })
    if not name and parent:type() == "expression_list" then
      local list = parent:parent() and parent:prev_named_sibling()
      name = list and field(list, { "name" })
    end
  end
  return name
end

---@param buf integer
---@param lnum integer 0-based
---@param byte integer 0-based
---@return string? name such as `Greeter.hello`; nil outside of any, or without a parser
function M.name(buf, lnum, byte)
  local size = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  local ok, parser = pcall(vim.treesitter.get_parser, buf)
  local tree = size <= MOST_BYTES and ok and parser and parser:parse()[1]
  local node = tree and tree:root():named_descendant_for_range(lnum, byte, lnum, byte)
  local found, names = nil, {} ---@type TSNode?, string[]
  while node do
    local name = defines(node:type()) and name_node(node)
    if name and not (found and found:equal(name)) then
      found = name
      table.insert(names, 1, vim.treesitter.get_node_text(name, buf))
    end
    node = node:parent()
  end
  return #names > 0 and table.concat(names, ".") or nil
end

return M
