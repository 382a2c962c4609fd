--- The function or class around a position, by tree-sitter. Grammars differ in their node types, yet
--- most agree: the type contains function, method or class, and a field holds the name.
local M = {}

---Bigger files are not parsed: the user would notice the pause of a first parse.
local MOST_BYTES = 512 * 1024
---TODO(0.10): before 0.12 Neovim searches the whole file for embedded languages, whatever range it is
---asked for: 0.3 s for 400 KB of Lua, after every edit.
local MOST_BYTES_EMBEDDING = vim.fn.has("nvim-0.12") == 1 and MOST_BYTES or 32 * 1024

local KINDS =
  { "function", "method", "class", "struct", "interface", "module", "namespace", "impl" }
---Types that contain one of the words above and define nothing.
local OTHERS =
  { "call", "type", "body", "declarator", "parameter", "argument", "modifier", "specifier" }

---The languages at a position, one inside the other: Markdown, then that of a fence.
---@param buf integer
---@param range Range4
---@return vim.treesitter.LanguageTree[] languages parsed, outermost first; none without a parser
local function languages(buf, range)
  local size = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  if size > MOST_BYTES then
    return {}
  end
  local ok, parser = pcall(vim.treesitter.get_parser, buf)
  if not ok or not parser then
    return {}
  end
  -- Queries that do not fit their parser, as mixed installations have them, fail here.
  local lines = { range[1], 0, range[3] + 1, 0 }
  if size > MOST_BYTES_EMBEDDING or not pcall(parser.parse, parser, lines) then
    parser:parse()
    return { parser }
  end
  local found, inner = {}, parser
  while inner do
    found[#found + 1] = inner
    local _, next_one = vim.iter(pairs(inner:children())):find(function(_, child)
      return child:contains(range)
    end)
    inner = next_one
  end
  return found
end

---@param kind string node type
---@return boolean
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

---In Vimscript the declaration is a child of the definition.
---@param node TSNode
---@return TSNode?
local function declared_name(node)
  for child in node:iter_children() do
    if child:type():find("declaration$") and defines(child:type()) then
      return field(child, { "name" })
    end
  end
end

---The node that holds the name: in C it hides in declarators, and a function that is a value takes
---the name of what it is assigned to.
---@param node TSNode
---@return TSNode?
local function name_node(node)
  local name = field(node, { "name" }) or declared_name(node)
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

---@param language vim.treesitter.LanguageTree
---@param range Range4
---@return TSNode[] names of what is around the range in this language, outermost first
local function names_in(language, range)
  local tree = language:tree_for_range(range, { ignore_injections = true })
  local node = tree and tree:root():named_descendant_for_range(unpack(range))
  local names = {} ---@type TSNode[]
  while node do
    local name = defines(node:type()) and name_node(node)
    if name and not (names[1] and names[1]:equal(name)) then
      table.insert(names, 1, name)
    end
    node = node:parent()
  end
  return names
end

---@param buf integer
---@param lnum integer 0-based
---@param byte integer 0-based
---@return string? name such as `Greeter.hello`; nil outside of any, or without a parser
function M.name(buf, lnum, byte)
  local range, names = { lnum, byte, lnum, byte }, {}
  for _, language in ipairs(languages(buf, range)) do
    for _, name in ipairs(names_in(language, range)) do
      names[#names + 1] = vim.treesitter.get_node_text(name, buf)
    end
  end
  return #names > 0 and table.concat(names, ".") or nil
end

return M
