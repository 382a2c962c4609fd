--- A range of a buffer found by its text, and selected.
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local lines = require("claude-code.editor.documents.lines")

---@class claude-code.Range from the first to the last selected character; rows 1-based, byte columns
---@field first { [1]: integer, [2]: integer }
---@field last { [1]: integer, [2]: integer }

local M = {}

---@class claude-code.TextPlace
---@field [1] integer row, 1-based
---@field [2] integer byte, 0-based

---@param at integer byte of the text, 1-based
---@param row integer of its first line, 1-based
local function place_in(text, at, row)
  local before = vim.split(text:sub(1, at - 1), "\n", { plain = true })
  return { row + #before - 1, #before[#before] }
end

---@return claude-code.TextPlace? first
---@return claude-code.TextPlace? last of its last byte
local function locate(buf, text, from)
  local row = from[1]
  local whole = table.concat(api.nvim_buf_get_lines(buf, row - 1, -1, false), "\n")
  local first, last = whole:find(text, from[2] + 1, true)
  if not first and text:find("\r\n", 1, true) then
    -- A buffer with 'fileformat' dos does not contain CR; one with mixed line ends does.
    first, last = whole:find((text:gsub("\r\n", "\n")), from[2] + 1, true)
  end
  if first and last then
    return place_in(whole, first, row), place_in(whole, last, row)
  end
end

---Finds the texts that were asked for. The end may be on the line of the start (spec 4.3:
---`find_text(endText, start_line)`), and within the start text, which is selected as a whole.
---@param buf integer loaded
---@param params { start_text?: string, end_text?: string, select_to_eol?: boolean }
---@return claude-code.Range? range nil if nothing is asked for or found
function M.find(buf, params)
  local function given(text)
    return text ~= "" and text or nil
  end
  local from_text, to_text = given(params.start_text), given(params.end_text)
  if not from_text and not to_text then
    return nil
  end
  local first, last = locate(buf, from_text or to_text --[[@as string]], { 1, 0 })
  if not first or not last then
    return nil
  end
  if from_text and to_text then
    local _, to = locate(buf, to_text, first)
    local is_behind = to and (to[1] > last[1] or to[1] == last[1] and to[2] > last[2])
    last = is_behind and to or last
  end
  local line = lines.at(buf, last[1] - 1)
  if params.select_to_eol then
    last[2] = math.max(#line - 1, 0)
  elseif last[2] < #line then
    -- The first byte of the last character is where Visual mode wants the cursor.
    last[2] = last[2] + vim.str_utf_start(line, last[2] + 1)
  end
  return { first = first, last = last }
end

---What was selected here last: the window, and both ends as getpos() has them.
local selected ---@type { win: integer, from: integer[], to: integer[] }?

---@return { win: integer, from: integer[], to: integer[] }
local function ends()
  return { win = api.nvim_get_current_win(), from = vim.fn.getpos("v"), to = vim.fn.getpos(".") }
end

---Starts visual mode. With "cmd" in 'selectmode', `v` would start Select mode, in which the next
---key replaces what is selected.
local function start_visual()
  local selectmode = vim.o.selectmode
  vim.o.selectmode = ""
  vim.cmd("normal! v")
  vim.o.selectmode = selectmode
end

local function select(win, range)
  if api.nvim_get_current_win() ~= win then
    return
  end
  api.nvim_win_set_cursor(win, range.first)
  start_visual()
  local row, col = unpack(range.last)
  if vim.o.selection == "exclusive" then
    local line = lines.at(api.nvim_win_get_buf(win), row - 1)
    col = require("claude-code.editor.columns").after(line, col)
  end
  -- The end of an exclusive selection may be behind the line's last character.
  pcall(api.nvim_win_set_cursor, win, { row, col })
  vim.cmd("normal! zv")
  selected = ends()
end

---Leaves the visual mode that a selection made here is in, unless the user changed it.
function M.leave_untouched()
  if selected and api.nvim_get_mode().mode == "v" and vim.deep_equal(selected, ends()) then
    vim.cmd("normal! \27")
  end
  selected = nil
end

---Selects, as soon as normal mode is reached: before that the keys would go into the text or the terminal.
---@param range claude-code.Range
function M.select(win, range)
  if api.nvim_get_mode().mode == "n" then
    select(win, range)
    return
  end
  blocked.to_normal_mode()
  blocked.retry(function()
    if api.nvim_get_mode().mode == "n" and api.nvim_win_is_valid(win) then
      select(win, range)
    end
  end)
end

return M
