--- Stores the user's comments on lines. An extmark tracks each in a loaded buffer; otherwise we search for its lines.
--- The executable records comments in the journal of the review, and reports them.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local buffers = require("claude-code.editor.review.buffer")
local file_lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")
local channel = require("claude-code.server.channel")

local PLACES = api.nvim_create_namespace("claude-code.review.comments.places")
local DRAWN = api.nvim_create_namespace("claude-code.review.comments")
local WIDTH = 76
local OUTDATED = "(its lines have changed) "

---The number of lines that are kept to find a comment again.
local MAX_LINES = 20
local MAX_BYTES_OF_LINE = 1000
---The limit for a file that is searched for a comment.
local MAX_BYTES = 10 * 1024 * 1024

---Delay after the last change of a text.
local TYPED_MS = 100

local M = {}

---@class claude-code.ReviewComment
---@field id string
---@field path string absolute, symlinks resolved
---@field rows [integer, integer] first row (1-based) and count in the journal
---@field lines string[] the first lines, to find them again
---@field text string
---@field is_sent boolean Claude has received it

---@class claude-code.ReviewCommentChange
---@field comment? string id; nil: a new one
---@field state "open"|"sent"|"deleted"
---@field path string
---@field rows [integer, integer]
---@field lines string[]
---@field text string

---@class claude-code.CommentPlace rows 1-based
---@field first integer
---@field last integer
---@field is_outdated boolean the lines of the comment no longer exist

---@type claude-code.ReviewComment[] oldest first
M.all = {}

---@return claude-code.ReviewComment[] that Claude has not received
function M.waiting()
  return vim.tbl_filter(function(comment)
    return not comment.is_sent
  end, M.all)
end

---@return claude-code.ReviewComment[] of its file
function M.of_buffer(buf)
  local name = #M.all > 0 and path.of_buffer(buf)
  local real = name and path.real(name)
  return vim.tbl_filter(function(comment)
    return comment.path == real
  end, M.all)
end

---@return string[]
function M.snippet(lines)
  return vim.tbl_map(function(line)
    return line:sub(1, MAX_BYTES_OF_LINE)
  end, vim.list_slice(lines, 1, MAX_LINES))
end

local function are_at(lines, row, wanted)
  for i, line in ipairs(wanted) do
    local there = lines[row + i - 1]
    if not there or there:sub(1, MAX_BYTES_OF_LINE) ~= line then
      return false
    end
  end
  return true
end

---Finds the nearest place with the lines. A sent comment needs a unique one: Claude may have changed its lines and left
---equal ones.
local function found(lines, comment)
  local first, count = comment.rows[1], comment.rows[2]
  local places = {} ---@type claude-code.CommentPlace[]
  for distance = 0, math.max(#lines, first) do
    for _, row in ipairs({ first - distance, first + distance }) do
      if row >= 1 and row <= #lines and are_at(lines, row, comment.lines) then
        local last = math.min(row + count - 1, #lines)
        places[#places + 1] = { first = row, last = last, is_outdated = false }
        if distance == 0 or not comment.is_sent then
          return places[1]
        end
      end
    end
  end
  if #places == 1 then
    return places[1]
  end
  -- A comment on a deleted file keeps its place.
  local end_row = #lines > 0 and #lines or first + count - 1
  local row = math.min(first, end_row)
  return { first = row, last = math.min(row + count - 1, end_row), is_outdated = true }
end

---@return claude-code.CommentPlace? nil without a mark; outdated if all lines were deleted
local function marked(buf, id)
  local found_mark = id and api.nvim_buf_get_extmark_by_id(buf, PLACES, id, { details = true })
  if not found_mark or #found_mark == 0 then
    return nil
  end
  local first, details = found_mark[1] + 1, found_mark[3]
  local is_at_start = details.end_col == 0 and details.end_row >= first
  local last = is_at_start and details.end_row or details.end_row + 1
  last = math.max(math.min(last, api.nvim_buf_line_count(buf)), first)
  return { first = first, last = last, is_outdated = details.invalid == true }
end

local show_again = require("claude-code.lib.timer").debounce(TYPED_MS, function()
  for _, shown in ipairs(buffers.all()) do
    M.show(shown.buf)
  end
end)

local function in_buffer(buf, comment)
  local shown, lines = buffers.attach(buf), api.nvim_buf_get_lines(buf, 0, -1, false)
  local own = shown.comment_marks
  shown.on_lines = show_again
  local place = marked(buf, own[comment.id])
  -- A sent comment matters only while its lines are unchanged.
  local is_there = place and not place.is_outdated and are_at(lines, place.first, comment.lines)
  if place and (is_there or not comment.is_sent) then
    return place
  end
  place = found(lines, comment)
  if not place.is_outdated then
    own[comment.id] = api.nvim_buf_set_extmark(buf, PLACES, place.first - 1, 0, {
      end_row = place.last,
      end_col = 0,
      end_right_gravity = false,
      invalidate = true,
      strict = false,
    })
  end
  return place
end

---@return claude-code.CommentPlace
---@return string[] lines at the place, or those of the comment if it is outdated
function M.place(comment)
  local buf = path.loaded_buffer(comment.path)
  local place, lines
  if buf then
    place = in_buffer(buf, comment)
    lines = api.nvim_buf_get_lines(buf, place.first - 1, place.last, false)
  else
    local bytes = regular_file.read(comment.path, MAX_BYTES)
    local whole = bytes and file_lines.parse(bytes).lines or {}
    place = found(whole, comment)
    lines = vim.list_slice(whole, place.first, place.last)
  end
  return place, place.is_outdated and comment.lines or lines
end

---Breaks text into lines of at most WIDTH columns, unless a word is longer.
local function wrapped(text)
  local lines = {}
  for _, part in ipairs(vim.split(text, "\n", { plain = true })) do
    local line = ""
    for word in vim.gsplit(require("claude-code.lib.text").visible(part), " ", { plain = true }) do
      local longer = line == "" and word or (line .. " " .. word)
      if line ~= "" and vim.fn.strdisplaywidth(longer) > WIDTH then
        lines[#lines + 1] = line
        longer = word
      end
      line = longer
    end
    lines[#lines + 1] = line
  end
  return lines
end

local function draw(lines, comment, place)
  local text = (place.is_outdated and OUTDATED or "") .. comment.text
  local group = comment.is_sent and "ClaudeCodeCommentSent" or "ClaudeCodeComment"
  for i, line in ipairs(wrapped(text)) do
    local label = i == 1 and comment.is_sent and "sent: " or ""
    lines[#lines + 1] = { { "▎ ", group }, { label .. line, group } }
  end
end

---Draws the comments of a buffer's file.
---@param is_other? boolean the buffer was read again or renamed: search for the lines
function M.show(buf, is_other)
  local shown = buffers.get(buf)
  if not api.nvim_buf_is_loaded(buf) then
    return
  elseif is_other and shown then
    shown.comment_marks = {}
    api.nvim_buf_clear_namespace(buf, PLACES, 0, -1)
  end
  api.nvim_buf_clear_namespace(buf, DRAWN, 0, -1)
  local rows = vim.defaulttable()
  for _, comment in ipairs(M.of_buffer(buf)) do
    local place = M.place(comment)
    if not (comment.is_sent and place.is_outdated) then
      draw(rows[place.last], comment, place)
    end
  end
  -- Set one mark by row: Neovim draws several in undefined order.
  for row, virtual in pairs(rows) do
    api.nvim_buf_set_extmark(buf, DRAWN, row - 1, 0, { virt_lines = virtual, strict = false })
  end
end

local function set(list)
  M.all = list
  for _, buf in ipairs(api.nvim_list_bufs()) do
    M.show(buf)
  end
end

---@param state "open"|"sent"|"deleted"
---@return claude-code.ReviewCommentChange
function M.change(comment, state)
  local place, lines = M.place(comment)
  return {
    comment = comment.id,
    state = state,
    path = comment.path,
    rows = place.is_outdated and comment.rows or { place.first, place.last - place.first + 1 },
    lines = M.snippet(lines),
    text = comment.text,
  }
end

---@param changes claude-code.ReviewCommentChange[] not empty
---@param callback? fun() called once they are recorded
function M.save(changes, callback)
  channel.request("review/comments", { changes = changes }, function(list, problem)
    if problem then
      local text = "your comment could not be recorded (%s): %s"
      return require("claude-code.messages.notify").error(text:format(problem, changes[1].text))
    end
    set(list)
    if callback then
      callback()
    end
  end)
end

---Records the places of comments in a file that was written, for the next Neovim.
local function record(buf)
  local changes = {}
  for _, comment in ipairs(M.of_buffer(buf)) do
    local change = M.change(comment, "open")
    local before = { comment.rows, comment.lines }
    if not comment.is_sent and not vim.deep_equal({ change.rows, change.lines }, before) then
      changes[#changes + 1] = change
    end
  end
  if #changes > 0 then
    M.save(changes)
  end
end

---@param list claude-code.ReviewComment[] as the executable reports them
function M.reported(list)
  if not vim.deep_equal(list, M.all) then
    set(list)
  end
end

local events = autocommands.new("review.comments")
events:on({ "BufReadPost", "BufFilePost" }, function(buf)
  M.show(buf, true)
end)
events:on("BufWritePost", function(buf)
  record(buf)
  M.show(buf)
end)

return M
