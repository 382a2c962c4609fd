--- The old lines of a hunk as virtual lines, in the colours they have in the old file.
local api, fn = vim.api, vim.fn
local highlights = require("claude-code.editor.diff.highlights")

---Nobody scrolls through more virtual lines than this; Neovim draws them all each time.
local MOST_LINES = 500
---Lines of a hunk that get colours: each column of those has to be asked for.
local COLOURED_LINES, COLOURED_BYTES = 100, 500

local M = {}

---@alias claude-code.Chunk { [1]: string, [2]: string|string[] } text and highlight groups

---@param text string
---@param column integer display column where it starts
---@param tabstop integer
---@return string text that shows as the same text does in a buffer
local function visible(text, column, tabstop)
  if not text:find("%c") then
    return text
  end
  local parts = {}
  for i, piece in ipairs(vim.split(text, "\t", { plain = true })) do
    if i > 1 then
      local gap = tabstop - column % tabstop
      parts[#parts + 1] = (" "):rep(gap)
      column = column + gap
    end
    piece = fn.strtrans((piece:gsub("%z", "^@")))
    parts[#parts + 1] = piece
    column = column + fn.strdisplaywidth(piece)
  end
  return table.concat(parts)
end

---@param buf integer
---@param first integer 0-based row
---@param last integer not included
---@return table<integer, table<integer, string>> groups by row and 0-based byte
local function tree_groups(buf, first, last)
  local groups = {}
  local parser = vim.treesitter.get_parser(buf)
  parser:parse({ first, last })
  parser:for_each_tree(function(tree, language)
    local query = vim.treesitter.query.get(language:lang(), "highlights")
    if not query then
      return
    end
    for id, node in query:iter_captures(tree:root(), buf, first, last) do
      local name = query.captures[id]
      local row, col, end_row, end_col = node:range()
      if name:sub(1, 1) ~= "_" and name ~= "spell" and name ~= "nospell" then
        local group = ("@%s.%s"):format(name, language:lang())
        for r = math.max(row, first), math.min(end_row, last - 1) do
          groups[r] = groups[r] or {}
          local stop = r == end_row and end_col or COLOURED_BYTES
          for c = r == row and col or 0, math.min(stop, COLOURED_BYTES) - 1 do
            groups[r][c] = group
          end
        end
      end
    end
  end)
  return groups
end

---@param buf integer
---@param first integer 0-based row
---@param last integer not included
---@return table<integer, table<integer, string>>
local function syntax_groups(buf, first, last)
  local groups = {}
  api.nvim_buf_call(buf, function()
    for row = first, last - 1 do
      groups[row] = {}
      local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
      for column = 0, math.min(#line, COLOURED_BYTES) - 1 do
        local name = fn.synIDattr(fn.synID(row + 1, column + 1, 1), "name")
        groups[row][column] = name ~= "" and name or nil
      end
    end
  end)
  return groups
end

---@param buf integer
---@param first integer 0-based row
---@param last integer not included
---@return table<integer, table<integer, string>>
local function groups_of(buf, first, last)
  if vim.treesitter.highlighter.active[buf] then
    return tree_groups(buf, first, last)
  elseif vim.bo[buf].syntax ~= "" then
    return syntax_groups(buf, first, last)
  end
  return {}
end

---@param line string
---@param groups table<integer, string> by 0-based byte
---@param tabstop integer
---@return claude-code.Chunk[]
local function chunks(line, groups, tabstop)
  local background = highlights.name("Delete")
  local result, from, column = {}, 1, 0
  while from <= #line do
    local group, to = groups[from - 1], from
    while to < #line and groups[to] == group do
      to = to + 1
    end
    local text = visible(line:sub(from, to), column, tabstop)
    result[#result + 1] = { text, group and { background, group } or background }
    column = column + fn.strdisplaywidth(text)
    from = to + 1
  end
  -- To the window's edge, as with lines of the buffer.
  result[#result + 1] = { (" "):rep(math.max(1, vim.o.columns - column)), background }
  return result
end

---@param hunk claude-code.Hunk
---@return integer first 0-based row of the old lines that are shown
---@return integer last not included
local function rows(hunk)
  return hunk.old - 1, hunk.old - 1 + math.min(hunk.old_count, MOST_LINES)
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
---@param groups table<integer, table<integer, string>> by row and 0-based byte
---@return claude-code.Chunk[][]
local function lines_in(session, hunk, groups)
  local first, last = rows(hunk)
  local tabstop = vim.bo[session.new_buf].tabstop
  local lines = {}
  for row = first, last - 1 do
    lines[#lines + 1] = chunks(session.old.lines[row + 1], groups[row] or {}, tabstop)
  end
  local more = hunk.old_count - #lines
  if more > 0 then
    local text = (" … and %d more deleted lines"):format(more)
    lines[#lines + 1] = { { text, highlights.name("Note") } }
  end
  return lines
end

---As many lines as `coloured` returns, at a small part of the cost.
---@param session claude-code.Diff
---@param hunk claude-code.Hunk
---@return claude-code.Chunk[][] virtual lines
function M.plain(session, hunk)
  return lines_in(session, hunk, {})
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
---@return claude-code.Chunk[][] virtual lines
function M.coloured(session, hunk)
  local known = session.deleted[hunk.old]
  if known and known.count == hunk.old_count then
    return known.lines
  end
  local first, last = rows(hunk)
  local stop = math.min(last, first + COLOURED_LINES)
  local ok, groups = pcall(groups_of, session.old_buf, first, stop)
  local lines = lines_in(session, hunk, ok and groups or {})
  session.deleted[hunk.old] = { count = hunk.old_count, lines = lines }
  return lines
end

---@param hunk claude-code.Hunk
---@return integer count of virtual lines
function M.height(hunk)
  return math.min(hunk.old_count, MOST_LINES + 1)
end

return M
