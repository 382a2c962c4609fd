--- Draws hunks in a buffer with the new text: colours, signs, and the old lines as virtual lines. Neovim cuts virtual
--- lines at the window's edge, so we break them if 'wrap' breaks the lines of the buffer.
local api, fn = vim.api, vim.fn
local hunks = require("claude-code.editor.changes.hunks")
local pairs_of_lines = require("claude-code.editor.changes.pairs")
local parsing = require("claude-code.editor.documents.parsing")
require("claude-code.lib.highlights")

---Below tree-sitter's 100, so that its foreground is visible on our background.
local LINE_PRIORITY, TEXT_PRIORITY = 50, 60

---Above the signs of other plugins.
local SIGN_PRIORITY = 100

---Neovim draws all virtual lines on each redraw.
local MAX_OLD_LINES = 500

---The bytes that are shown of a line; fewer once LONG_LINES bytes are drawn: Neovim takes about 10 ms for 100 KB.
local MAX_LINE, SHORTER_LINE, LONG_LINES = 2000, 100, 20000

---A hunk with more bytes of old lines gets no syntax colours.
local MAX_PARSED = 20000

---Captures that are not colours.
local NO_COLOURS = { conceal = true, none = true, nospell = true, spell = true }

---The limit of rows for one wrapped line.
local MAX_ROWS = 30

local CAN_SCROLL = fn.has("nvim-0.11") == 1

local M = {}

---@alias claude-code.Chunk { [1]: string, [2]: string|string[] } text and highlight groups

---Sets an extmark; row and column are 0-based.
---@alias claude-code.Pen fun(row: integer, column: integer, options: vim.api.keyset.set_extmark)

---@class claude-code.DrawnHunk
---@field new integer first line, 1-based, or the line before if there are no new lines
---@field new_count integer
---@field old_lines string[]

---@class claude-code.LineStyle of old lines in a window
---@field margin claude-code.Chunk in front of old lines
---@field wrap_width integer cells; 0 if the window does not wrap lines
---@field language? string by which tree-sitter colours the buffer

---@param column integer at which the text begins, in cells
---@return string text that looks as it would in a buffer
---@return integer column at which it ends
local function visible(text, tabstop, column)
  if not text:find("%c") then
    return text, column + fn.strdisplaywidth(text, column)
  end
  local shown = {}
  for i, piece in ipairs(vim.split(text, "\t", { plain = true })) do
    local gap = i > 1 and tabstop - column % tabstop or 0
    -- Skip empty pieces: a line of tabs has thousands.
    if piece ~= "" then
      piece = fn.strtrans((piece:gsub("%z", "^@")))
    end
    column = column + gap + (piece ~= "" and fn.strdisplaywidth(piece) or 0)
    shown[i] = (" "):rep(gap) .. piece
  end
  return table.concat(shown), column
end

---@return string shown, string? note about the rest
local function cut(line, most)
  if #line <= most then
    return line
  end
  local last = most + vim.str_utf_start(line, most + 1)
  return line:sub(1, last), (" … and %d more bytes"):format(#line - last)
end

---@return table<integer, string>[] groups of each line, by 1-based bytes
local function colours_of(lines, language)
  local found = vim.tbl_map(function()
    return {}
  end, lines)
  local text = table.concat(lines, "\n") .. "\n"
  if not language or #text > MAX_PARSED or parsing.is_deep(lines) then
    return found
  end
  local parser = vim.treesitter.get_string_parser(text, language)
  parser:parse(true)
  parser:for_each_tree(function(tree, part)
    local query = vim.treesitter.query.get(part:lang(), "highlights")
    for id, node in query and query:iter_captures(tree:root(), text) or function() end do
      local name, first_row, first, last_row, last = query.captures[id], node:range()
      local has_colour = not NO_COLOURS[name] and not vim.startswith(name, "_")
      for row = first_row, has_colour and math.min(last_row, #lines - 1) or -1 do
        local from = row == first_row and first + 1 or 1
        for byte = from, row == last_row and last or #lines[row + 1] do
          found[row + 1][byte] = ("@%s.%s"):format(name, part:lang())
        end
      end
    end
  end)
  return found
end

---@param most integer bytes that are shown
---@param ranges claude-code.ByteRange[] changed parts
local function chunks(whole, most, ranges, colours, tabstop)
  local found, column, at, marked = {}, 0, 1, {}
  local line, note = cut(whole, most)
  for _, range in ipairs(ranges) do
    for byte = range[1] + 1, range[2] do
      marked[byte] = true
    end
  end
  while at <= #line do
    local last = at
    while last < #line and marked[last + 1] == marked[at] and colours[last + 1] == colours[at] do
      last = last + 1
    end
    local text, next_column = visible(line:sub(at, last), tabstop, column)
    local group = marked[at] and "ClaudeCodeDeleteText" or "ClaudeCodeDelete"
    found[#found + 1] = { text, colours[at] and { group, colours[at] } or group }
    at, column = last + 1, next_column
  end
  if note then
    found[#found + 1] = { note, "ClaudeCodeNote" }
  end
  -- Colour up to the window's edge, as in lines of the buffer.
  found[#found + 1] = { (" "):rep(math.max(1, vim.o.columns - column)), "ClaudeCodeDelete" }
  return found
end

---@param line claude-code.Chunk[] the first one is the margin, the last one fills the row
local function rows_of(line, width)
  local margin = fn.strdisplaywidth(line[1][1])
  local rows, left = { { line[1] } }, width - margin
  for i = 2, #line - 1 do
    local text, group = line[i][1], line[i][2]
    while text ~= "" and (#rows <= MAX_ROWS or group == "ClaudeCodeNote") do
      if left <= 0 then
        rows[#rows + 1] = { { (" "):rep(margin), line[1][2] } }
        left = width - margin
      end
      local head = fn.printf(("%%.%dS"):format(left), text)
      head = head ~= "" and head or fn.strcharpart(text, 0, 1)
      table.insert(rows[#rows], { head, group })
      -- A wide character that does not fit the last cell begins the next row.
      local cells = fn.strdisplaywidth(head)
      text, left = text:sub(#head + 1), #head < #text and 0 or left - cells
    end
  end
  table.insert(rows[#rows], { (" "):rep(math.max(left, 1)), line[#line][2] })
  return rows
end

local function wrapped(lines, width)
  local margin = lines[1] and fn.strdisplaywidth(lines[1][1][1]) or 0
  if width - margin < 2 then
    return lines
  end
  return vim.iter(lines):fold({}, function(rows, line)
    return vim.list_extend(rows, #line > 2 and rows_of(line, width) or { line })
  end)
end

---@param changes table<integer, claude-code.ByteRange[]> by the index of a line
local function virtual_lines(buf, old_lines, changes, style)
  local shown, lines, above = vim.list_slice(old_lines, 1, MAX_OLD_LINES), {}, 0
  local parsed, colours = pcall(colours_of, shown, style.language)
  for i, text in ipairs(shown) do
    local most = above < LONG_LINES and MAX_LINE or SHORTER_LINE
    local line =
      chunks(text, most, changes[i] or {}, parsed and colours[i] or {}, vim.bo[buf].tabstop)
    table.insert(line, 1, style.margin)
    lines[i], above = line, above + math.min(#text, most)
  end
  if #old_lines > #shown then
    local text = (" … and %d more deleted lines"):format(#old_lines - #shown)
    lines[#lines + 1] = { { text, "ClaudeCodeNote" } }
  end
  return style.wrap_width > 0 and wrapped(lines, style.wrap_width) or lines
end

---Colours lines, and the changed parts of them more strongly.
---@param first integer 0-based row
---@param changes table<integer, claude-code.ByteRange[]> by the index of a line
---@param group "ClaudeCodeAdd"|"ClaudeCodeDelete"
---@param text_group "ClaudeCodeAddText"|"ClaudeCodeDeleteText"
function M.lines(pen, first, count, changes, group, text_group)
  if count == 0 then
    return
  end
  pen(first, 0, {
    end_row = first + count,
    end_col = 0,
    hl_group = group,
    hl_eol = true,
    priority = LINE_PRIORITY,
    strict = false,
  })
  for index, ranges in pairs(changes) do
    for _, range in ipairs(ranges) do
      local part = { end_col = range[2], hl_group = text_group, priority = TEXT_PRIORITY }
      pen(first + index - 1, range[1], part)
    end
  end
end

---Draws the new lines with signs, and the old ones above them.
---@param hunk claude-code.DrawnHunk
function M.inline(buf, pen, hunk, style)
  local count, line_count = hunk.new_count, api.nvim_buf_line_count(buf)
  local first = count > 0 and hunk.new - 1 or hunk.new
  local new = api.nvim_buf_get_lines(buf, first, first + count, false)
  local in_old, in_new = pairs_of_lines.changes(hunk.old_lines, new)
  if #hunk.old_lines > 0 then
    pen(math.min(first, line_count - 1), 0, {
      virt_lines = virtual_lines(buf, hunk.old_lines, in_old, style),
      virt_lines_leftcol = true,
      virt_lines_above = first < line_count,
      virt_lines_overflow = CAN_SCROLL and "scroll" or nil,
    })
  end
  if count > 0 then
    M.sign(pen, first, count, "+", "ClaudeCodeAddSign", SIGN_PRIORITY)
    M.lines(pen, first, count, in_new, "ClaudeCodeAdd", "ClaudeCodeAddText")
  end
end

---@param first integer 0-based row
function M.sign(pen, first, count, text, group, priority)
  pen(first, 0, {
    end_row = first + count - 1,
    end_col = 0,
    sign_text = text,
    sign_hl_group = group,
    priority = priority,
    strict = false,
  })
end

---@class claude-code.Drawing draws hunks of a buffer once a window comes near them
---@field buf integer
---@field private namespace integer
---@field private list { new: integer, new_count: integer }[]
---@field private paint fun(pen: claude-code.Pen, hunk: table, style: claude-code.LineStyle)
---@field private side "old"|"new" of the hunks that the buffer has
---@field private tick integer changedtick that the hunks belong to
---@field private style? claude-code.LineStyle
---@field private ranges [integer, integer][] rows, from 1, in which `show` has painted all hunks
---@field private painted? table<integer, true> by index
local Drawing = {}
Drawing.__index = Drawing

local drawings = setmetatable({}, { __mode = "k" }) ---@type table<claude-code.Drawing, true>

---Replaces an earlier drawing in the namespace.
---@param list { new: integer, new_count: integer }[] of the current text
---@param paint fun(pen: claude-code.Pen, hunk: table, style: claude-code.LineStyle)
---@param side? "old"|"new"
---@return claude-code.Drawing
function M.start(buf, namespace, list, paint, side)
  local drawing = setmetatable({
    buf = buf,
    namespace = namespace,
    list = list,
    paint = paint,
    side = side or "new",
    tick = api.nvim_buf_get_changedtick(buf),
    ranges = {},
  }, Drawing)
  for other in pairs(drawings) do
    if other.buf == buf and other.namespace == namespace then
      drawings[other] = nil
    end
  end
  drawings[drawing] = true
  drawing:show()
  return drawing
end

local function style_in(buf, win)
  local active = vim.treesitter.highlighter.active[buf]
  -- The margin is a sign, and blanks up to the buffer's text.
  local cells = win and math.max(2, fn.getwininfo(win)[1].textoff) or 2
  return {
    margin = { "-" .. (" "):rep(cells - 1), "ClaudeCodeDeleteSign" },
    wrap_width = win and vim.wo[win].wrap and api.nvim_win_get_width(win) or 0,
    language = active and active.tree:lang(),
  }
end

---@return [integer, integer][] rows on screen, and a screen more above and below, without closed folds of more than
--- a screen: when one of those opens, other rows come on screen
local function ranges_in(win)
  return api.nvim_win_call(win, function()
    local height = api.nvim_win_get_height(win)
    local first, last = math.max(fn.line("w0") - height, 1), fn.line("w$") + height
    local ranges, row = { { first, last } }, first
    while row <= last do
      local fold_end = fn.foldclosedend(row)
      if fold_end - row > height then
        ranges[#ranges][2] = row
        ranges[#ranges + 1] = { fold_end + 1, last }
      end
      row = math.max(row, fold_end) + 1
    end
    return ranges
  end)
end

---@private
function Drawing:paint_range(first, last)
  local function pen(row, column, options)
    api.nvim_buf_set_extmark(self.buf, self.namespace, row, column, options)
  end
  for index = math.max(hunks.before(self.list, self.side, first), 1), #self.list do
    local hunk = self.list[index]
    if hunk[self.side] > last then
      break
    elseif not self.painted[index] then
      self.painted[index] = true
      self.paint(pen, hunk, self.style)
    end
  end
end

---Draws the hunks in and near windows, since 10,000 would take half a second. Keeps drawn ones unless the style has
---changed.
function Drawing:show()
  if not api.nvim_buf_is_loaded(self.buf) then
    return self:stop()
  elseif self.tick ~= api.nvim_buf_get_changedtick(self.buf) then
    return -- Its owner is about to start another one.
  end
  local wins = fn.win_findbuf(self.buf)
  -- Before clearing: without the old lines Neovim would scroll.
  local style = style_in(self.buf, wins[1])
  local ranges = vim.iter(wins):map(ranges_in):flatten(1):totable()
  if not vim.deep_equal(style, self.style) then
    self.style, self.painted = style, {}
    api.nvim_buf_clear_namespace(self.buf, self.namespace, 0, -1)
  end
  self.ranges = ranges
  for _, range in ipairs(ranges) do
    self:paint_range(range[1], range[2])
  end
end

function Drawing:stop()
  drawings[self] = nil
  if api.nvim_buf_is_valid(self.buf) then
    api.nvim_buf_clear_namespace(self.buf, self.namespace, 0, -1)
  end
end

-- A fold fires no event when it opens or closes, and brings other rows on screen.
api.nvim_set_decoration_provider(api.nvim_create_namespace("claude-code.changes"), {
  on_win = function(_, _, buf, top, bottom)
    for drawing in pairs(drawings) do
      local is_painted = vim.iter(drawing.ranges):any(function(range)
        return range[1] <= top + 1 and bottom <= range[2]
      end)
      if drawing.buf == buf and not is_painted then
        -- Neovim allows no extmark while it draws.
        vim.schedule(function()
          if drawings[drawing] then
            drawing:show()
          end
        end)
      end
    end
    return false
  end,
})

require("claude-code.lib.autocommands")
  .new("changes")
  :on({ "BufWinEnter", "WinScrolled" }, function()
    for drawing in pairs(drawings) do
      drawing:show()
    end
  end)

return M
