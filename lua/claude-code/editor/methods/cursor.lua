--- Answers with the cursor of the current window and the text around it (`editor/position`, `editor/context`). Lines
--- are 1-based; columns are 0-based in codepoints.
local api = vim.api
local columns = require("claude-code.editor.columns")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")

---Values of 'buftype' for output of programs, and for lists with lines and names of files, even of private files.
local SPECIAL = { prompt = true, quickfix = true, terminal = true }
---File types of such lists in other plugins.
local LISTS = { aerial = true, DiffviewFiles = true, DiffviewFileHistory = true, fugitive = true }

local M = {}

---Is it a terminal, a list of places, a file explorer, or a plugin's float?
local function is_special(win, buf)
  return SPECIAL[vim.bo[buf].buftype] ~= nil
    or LISTS[vim.bo[buf].filetype] ~= nil
    or require("claude-code.explorers").of_buffer(buf) ~= nil
    or vim.fn.isdirectory(api.nvim_buf_get_name(buf)) == 1
    or (api.nvim_win_get_config(win).relative ~= "" and path.of_buffer(buf) == nil)
end

---@return claude-code.Failure? refusal nil if Claude may see the current window's buffer
function M.refusal()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  if privacy.hides(buf) then
    return privacy.UNNAMED_REFUSAL
  elseif is_special(win, buf) then
    return {
      code = "special",
      message = "the current window shows a terminal, a list or a file explorer: Claude sees only "
        .. "windows with files and text",
    }
  end
end

---@return integer buf, integer lnum, integer byte both 0-based
local function here()
  local lnum, byte = unpack(api.nvim_win_get_cursor(0))
  return api.nvim_get_current_buf(), lnum - 1, byte
end

---@alias claude-code.Cursor table of that name in src/editor/model.ts

---@param lnum integer 0-based
---@param byte integer 0-based
---@return claude-code.Cursor
function M.at(buf, lnum, byte)
  return {
    line = lnum + 1,
    column = columns.of_byte(lines.at(buf, lnum), byte, "utf-32"),
    position = columns.offset(buf, lnum, byte),
    name = path.base(api.nvim_buf_get_name(buf)),
    path = path.of_buffer(buf),
    total_lines = api.nvim_buf_line_count(buf),
  }
end

function M.now()
  local failure = M.refusal()
  if failure then
    return nil, failure
  end
  return M.at(here())
end

---A bigger file, in bytes, is not parsed: the user would notice its first parse.
local MAX_BYTES = 512 * 1024

local KINDS =
  { "function", "method", "class", "struct", "interface", "module", "namespace", "impl" }
---Node types with these words define nothing, even if they contain a word of KINDS.
local OTHERS =
  { "call", "type", "body", "declarator", "parameter", "argument", "modifier", "specifier" }

local function defines(kind)
  local function has(word)
    return kind:find(word, 1, true) ~= nil
  end
  return vim.iter(KINDS):any(has) and not vim.iter(OTHERS):any(has)
end

---Finds the name of a definition. In C it is inside declarators; a function that is a value takes the name of the
---variable that it is assigned to.
local function name_node(node)
  local name, declarator = node:field("name")[1], node:field("declarator")[1]
  while not name and declarator do
    name = declarator:field("name")[1]
    local inner = declarator:field("declarator")[1]
    if not inner then
      return name or declarator
    end
    declarator = inner
  end
  local parent = node:parent()
  if not name and parent and not defines(parent:type()) then
    name = parent:field("name")[1] or parent:field("key")[1] or parent:field("left")[1]
    if not name and parent:type() == "expression_list" then
      local list = parent:parent() and parent:prev_named_sibling()
      name = list and list:field("name")[1]
    end
  end
  return name
end

---@return string? name such as `Greeter.hello`; nil outside of definitions, or without a parser
local function enclosing(buf, lnum, byte)
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  -- Markdown has no definitions, and its parser may crash Neovim (documents/parsing.lua).
  local is_code = size <= MAX_BYTES and vim.bo[buf].filetype ~= "markdown"
  local parser = is_code and vim.F.npcall(vim.treesitter.get_parser, buf)
  local tree = parser and parser:parse()[1]
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

function M.context(params)
  local failure = M.refusal()
  if failure then
    return nil, failure
  end
  local buf, lnum, byte = here()
  local line = lines.at(buf, lnum)
  local function text(first, last)
    local rows = api.nvim_buf_get_lines(buf, math.max(first, 0), math.max(last, 0), false)
    return table.concat(rows, "\n")
  end
  return {
    line = lnum + 1,
    column = columns.of_byte(line, byte, "utf-32"),
    before = text(lnum - params.lines_before, lnum),
    after = text(lnum + 1, lnum + 1 + params.lines_after),
    text = line,
    filetype = vim.bo[buf].filetype,
    function_name = enclosing(buf, lnum, byte),
  }
end

return M
