--- Where a name stands in a buffer, as a whole word.
local api = vim.api

---Claude's line numbers may be from before an edit: so far around the line the name is looked for.
local TOLERANCE = 5
---So many occurrences are asked about, where no line is given.
local MOST = 24

local M = {}

---@class claude-code.Occurrence 0-based
---@field buf integer
---@field row integer
---@field col integer byte

---@class claude-code.SymbolName
---@field given string
---@field last string the name itself
---@field parents string[] from the outermost on

---`Parser.parse`, `parser::parse`, `Parser#parse` and `Parser/parse` name one of several.
---@param given string
---@return claude-code.SymbolName
function M.parse(given)
  local parts = {} ---@type string[]
  for part in given:gsub("%b()%s*$", ""):gmatch("[^%.:#/%s]+") do
    parts[#parts + 1] = part
  end
  local last = table.remove(parts) or given
  return { given = given, last = last, parents = parts }
end

---@param char string
local function is_word(char)
  return char:find("^[%w_\128-\255]") ~= nil
end

---@param line string
---@return integer[] columns 0-based bytes
local function in_line(line, name)
  local columns, from = {}, 1
  while true do
    local first, last = line:find(name, from, true)
    if not first or not last then
      return columns
    end
    local starts = not (is_word(name) and is_word(line:sub(first - 1, first - 1)))
    local ends = not (is_word(name:sub(-1)) and is_word(line:sub(last + 1, last + 1)))
    if (first == 1 or starts) and ends then
      columns[#columns + 1] = first - 1
    end
    from = last + 1
  end
end

---@param row integer
---@return claude-code.Occurrence[]
local function in_row(buf, name, row)
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  return vim.tbl_map(function(col)
    return { buf = buf, row = row, col = col }
  end, line and in_line(line, name) or {})
end

---The occurrences on a row, or on the nearest one that has some.
---@param buf integer loaded
---@param name string
---@param row integer 0-based
---@return claude-code.Occurrence[]
function M.near(buf, name, row)
  for distance = 0, TOLERANCE do
    for _, other in ipairs({ row + distance, row - distance }) do
      local found = other >= 0 and in_row(buf, name, other) or {}
      if #found > 0 then
        return found
      end
    end
  end
  return {}
end

---@param text string before an occurrence
---@param leader string of the file type's comments
local function is_comment(text, leader)
  return text:find("^%s*/?%*") ~= nil or leader ~= "" and text:find(leader, 1, true) ~= nil
end

---The first occurrences in a buffer. Those in comments are the last: clangd leads from there to
---definitions, too, and to nothing else.
---@param buf integer loaded
---@param name string
---@return claude-code.Occurrence[]
function M.all(buf, name)
  local list, in_comments = {}, {}
  local leader = vim.trim(vim.bo[buf].commentstring:match("^(.-)%%s") or "")
  for i, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    if line:find(name, 1, true) then
      for _, col in ipairs(in_line(line, name)) do
        local into = is_comment(line:sub(1, col), leader) and in_comments or list
        into[#into + 1] = { buf = buf, row = i - 1, col = col }
      end
      if #list >= MOST then
        break
      end
    end
  end
  return vim.list_slice(vim.list_extend(list, in_comments), 1, MOST)
end

return M
