--- Shows a conversation in a buffer, as Markdown from the executable, which sends the end first, then new and earlier
--- blocks.
local api = vim.api
local channel = require("claude-code.server.channel")
local mod = require("claude-code.sessions.mod")
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")
require("claude-code.lib.highlights")

---@alias claude-code.TranscriptMark table `Mark` of src/transcript/markdown.ts

---@class claude-code.Transcript
---@field id string of the conversation
---@field agent? string of the subagent
---@field remote? string name of the remote of its Claude
---@field buf integer
---@field view? integer id in the executable; nil: the conversation is no longer followed
---@field folds string[] characters by line
---@field marks table<integer, claude-code.TranscriptMark> by extmark
---@field calls table<string, integer> extmarks of calls, by their ids
---@field is_whole? boolean it begins with the conversation's first entry
---@field is_asking? boolean it is waiting for an earlier block
---@field written { answer?: integer, lines: string[], is_entered?: boolean } lines at the end without an entry yet
---@field unfollow? fun() ends what `follow` began
local Transcript = {}
Transcript.__index = Transcript

local M = { NAME = "claude-code://transcript/" }

local NAMESPACE = api.nvim_create_namespace("claude-code.transcript")
---Pause between earlier blocks, in which Neovim draws and reads keys.
local PAUSE_MS = 20
---Time in which the CLI writes the entry of an answer; it writes none for an answer that the user stopped.
local ENTRY_MS = 2000

---Reuses a buffer that `:bdelete` has unloaded.
---@param agent? string
---@return claude-code.Transcript
function M.new(id, agent)
  local buf = vim.fn.bufadd(M.NAME .. id .. (agent and "/" .. agent or ""))
  vim.bo[buf].buftype, vim.bo[buf].swapfile, vim.bo[buf].bufhidden = "nofile", false, "hide"
  windows.noautocmd(function()
    vim.fn.bufload(buf)
  end)
  vim.bo[buf].modifiable, vim.bo[buf].undolevels = false, -1
  local self = { id = id, agent = agent, buf = buf, folds = {}, marks = {}, calls = {} }
  self.written = { lines = {} }
  return setmetatable(self, Transcript)
end

---Inserts or replaces lines, and keeps cursors that are on the last line there.
---@param row integer 0-based
---@param last? integer 0-based end of the lines to replace, exclusive
function Transcript:insert(row, block, last)
  if #self.folds == 0 then
    row, last = 0, -1 -- Replace the empty line of an empty buffer.
  end
  local at_end = vim.tbl_filter(function(win)
    return api.nvim_win_get_cursor(win)[1] == api.nvim_buf_line_count(self.buf)
  end, vim.fn.win_findbuf(self.buf))
  local behind = vim.list_slice(self.folds, (last or row) + 1)
  for i = #self.folds, row + 1, -1 do
    self.folds[i] = nil
  end
  vim.list_extend(self.folds, vim.split(block.folds, ""))
  vim.list_extend(self.folds, behind)
  vim.bo[self.buf].modifiable = true
  api.nvim_buf_set_lines(self.buf, row, last or row, true, block.lines)
  vim.bo[self.buf].modifiable = false
  for _, mark in ipairs(block.marks) do
    self:mark(row + mark.row, mark)
  end
  for _, win in ipairs(at_end) do
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(self.buf), 0 })
  end
end

---@return integer column, vim.api.keyset.set_extmark look with the time of a prompt, or the result of a call
local function look_of(mark, row, line)
  if mark.prompt then
    local time = mark.prompt > 0 and os.date("%H:%M", math.floor(mark.prompt / 1000))
    return 0,
      {
        line_hl_group = "ClaudeCodeTranscriptPrompt",
        end_row = row + (mark.rows or 1) - 1,
        virt_text = time and { { "  " .. time, "ClaudeCodeNote" } } or nil,
        virt_text_pos = "right_align",
        hl_mode = "combine",
      }
  end
  local group = mark.failed and "ClaudeCodeTranscriptFailed" or "ClaudeCodeNote"
  return #line - #(mark.note or ""), { end_col = #line, hl_group = mark.note and group or nil }
end

---@param row integer 0-based
---@param id? integer of the extmark to replace
function Transcript:mark(row, mark, id)
  local line = api.nvim_buf_get_lines(self.buf, row, row + 1, true)[1]
  local column, look = look_of(mark, row, line)
  look.id = id
  id = api.nvim_buf_set_extmark(self.buf, NAMESPACE, row, column, look)
  self.marks[id] = mark
  if mark.call then
    self.calls[mark.call] = id
  end
end

---Adds a result below its call.
---@param about table fields for the mark of the call
function Transcript:add_result(call, block, about)
  local id = self.calls[call]
  if id then
    local row = api.nvim_buf_get_extmark_by_id(self.buf, NAMESPACE, id, {})[1]
    vim.bo[self.buf].modifiable = true
    api.nvim_buf_set_text(self.buf, row, -1, row, -1, { "  " .. about.note })
    vim.bo[self.buf].modifiable = false
    self:mark(row, vim.tbl_extend("force", self.marks[id], about), id)
    self:insert(row + 1, block)
  end
end

function Transcript:change(update)
  if update.problem then
    return require("claude-code.messages.notify").warn(update.problem)
  end
  for _, result in ipairs(update.results or {}) do
    self:add_result(result.call, result.block, result.about)
  end
  if update.restarted then
    api.nvim_buf_clear_namespace(self.buf, NAMESPACE, 0, -1)
    self.folds, self.marks, self.calls, self.is_whole = {}, {}, {}, false
    self:insert(0, update.block, -1)
    self.written.lines = {}
    self:fill()
  else
    local count = api.nvim_buf_line_count(self.buf)
    self:insert(count - #self.written.lines, update.block, update.answered and count or nil)
    if update.answered then
      self.written.lines, self.written.is_entered = {}, true
    end
  end
end

---Shows what Claude has written of its answer.
---@param update claude-code.Written
function Transcript:write(update)
  local is_new = update.answer ~= self.written.answer
  if not is_new and self.written.is_entered then
    return
  end
  local old, row = self.written.lines, is_new and 0 or math.min(update.row, #self.written.lines)
  local count = api.nvim_buf_line_count(self.buf)
  local block = { lines = update.lines, folds = ("0"):rep(#update.lines), marks = {} }
  self:insert(count - #old + row, block, count)
  local written = { answer = update.answer, lines = vim.list_slice(old, 1, row) }
  vim.list_extend(written.lines, update.lines)
  self.written = written
  if update.done then
    timer.once(ENTRY_MS, function()
      if self.written == written then
        self:drop_written()
      end
    end)
  end
end

function Transcript:drop_written()
  if api.nvim_buf_is_loaded(self.buf) and #self.written.lines > 0 then
    self:write({ answer = self.written.answer, row = 0, lines = {}, done = false })
  end
  self.written = { lines = {} }
end

---Shows answers of a conversation here while Claude writes them.
function Transcript:follow()
  if not (self.agent or self.unfollow) then
    self.unfollow = mod.follow(self.id, function(update)
      self:write(update)
    end)
  end
end

function Transcript:stop_following()
  if self.unfollow then
    self.unfollow()
    self.unfollow = nil
    self:drop_written()
  end
end

---Adds earlier blocks one by one.
function Transcript:fill()
  if self.is_whole or self.is_asking or not self.view then
    return
  end
  self.is_asking = true
  channel.request("transcript/earlier", { view = self.view }, function(block, problem)
    self.is_asking, self.is_whole = false, not block
    if problem and self.view then
      require("claude-code.messages.notify").warn("the beginning is not shown: " .. problem)
    end
    if block and self.view and api.nvim_buf_is_loaded(self.buf) then
      self:insert(0, block)
      timer.once(PAUSE_MS, function()
        self:fill()
      end)
    end
  end)
end

---@param row integer 1-based
---@return claude-code.TranscriptMark? mark of the line, or else of its fold
function Transcript:mark_at(row)
  local first = row
  while first > 1 and self.folds[first] == "1" do
    first = first - 1
  end
  for _, at in ipairs({ row - 1, first - 1 }) do
    local found = api.nvim_buf_get_extmarks(self.buf, NAMESPACE, { at, 0 }, { at, -1 }, {})[1]
    if found then
      return self.marks[found[1]]
    end
  end
end

---@param row integer 1-based
---@param step 1|-1
---@return integer? row 1-based, of the prompt `count` steps away
function Transcript:prompt_from(row, step, count)
  if step == -1 and row == 1 then
    return nil
  end
  local found
  local from, to = { step == 1 and row or row - 2, 0 }, step == 1 and -1 or 0
  for _, extmark in ipairs(api.nvim_buf_get_extmarks(self.buf, NAMESPACE, from, to, {})) do
    if self.marks[extmark[1]].prompt and count > 0 then
      found, count = extmark[2] + 1, count - 1
    end
  end
  return found
end

return M
