--- Asks Claude about lines of a buffer, in a float at those lines (`:Claude ask`). A question aside leaves no trace in
--- the conversation, and its answer appears in the float.
local api, fn = vim.api, vim.fn
local history = require("claude-code.editor.prompt.history")
local mod = require("claude-code.sessions.mod")
local notify = require("claude-code.messages.notify")
local prompt = require("claude-code.terminal.prompt")
local sessions = require("claude-code.sessions")
local windows = require("claude-code.editor.windows")
require("claude-code.lib.highlights")

local M = {}

local NAMESPACE = api.nvim_create_namespace("claude-code.ask")
---Cells of the border; cells of the float; rows beside the lines, without which their window scrolls.
local BORDER, MIN_WIDTH, MAX_WIDTH, MIN_ROWS = 2, 60, 100, 3
local FOOTERS = {
  written = " <CR> asks   <C-s> asks aside   <Esc> closes ",
  aside = " <CR> asks aside   <Esc> closes ",
  waits = " Claude thinks …   q closes ",
  answered = " not in the conversation   q closes ",
}

---@class claude-code.Ask
---@field n? integer number of the session; nil: a CLI that the user started
---@field is_aside? boolean <CR> asks aside
---@field ask fun(self) of <CR>
---@field source integer buffer of the lines
---@field first integer 1-based
---@field last integer
---@field text string the lines as a prompt names them
---@field title string
---@field beside integer window of the lines
---@field view vim.fn.winsaveview.ret of that window
---@field buf integer
---@field win? integer
---@field state "written"|"waits"|"answered"|"sent" of the question
local Ask = {}
Ask.__index = Ask

local current ---@type claude-code.Ask?

---Finds the larger room below or above the lines.
---@param rows integer wanted
---@return integer rows, integer row of the float, from 0
function Ask:spot(rows)
  local line = api.nvim_buf_get_lines(self.source, self.last - 1, self.last, false)[1] or ""
  local top = fn.screenpos(self.beside, self.first, 1).row
  local bottom = fn.screenpos(self.beside, self.last, math.max(1, #line)).row
  local screen = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  if top == 0 and bottom == 0 then -- none of them is in view
    rows = math.min(rows, math.floor(screen / 2))
    return rows, screen - rows - BORDER
  end
  local above = top - 1 - BORDER
  local below = bottom > 0 and screen - bottom - BORDER or 0
  if below < rows and above > below then
    rows = math.min(rows, above)
    return rows, top - 1 - rows - BORDER
  end
  rows = math.max(1, math.min(rows, below))
  return rows, math.min(bottom > 0 and bottom or screen, screen - rows - BORDER)
end

---Fits the float to its text, its state and the screen.
function Ask:fit()
  local info = fn.getwininfo(self.beside)[1] or { wincol = 1, textoff = 0, width = 0 }
  local width = math.max(info.width - info.textoff - BORDER, MIN_WIDTH)
  width = math.min(width, MAX_WIDTH, vim.o.columns - BORDER)
  local config = {
    relative = "editor",
    width = width,
    height = 1,
    row = 0,
    col = math.min(info.wincol + info.textoff - 1, vim.o.columns - width - BORDER),
    title = (" %s "):format(self.title),
    footer = FOOTERS[self.state == "written" and self.is_aside and "aside" or self.state],
    border = "rounded",
    style = "minimal",
  }
  self.win = self.win or api.nvim_open_win(self.buf, true, config)
  api.nvim_win_set_width(self.win, width)
  config.height, config.row = self:spot(api.nvim_win_text_height(self.win, {}).all)
  api.nvim_win_set_config(self.win, config)
end

function Ask:enter(state)
  self.state = state
  vim.bo[self.buf].modifiable = state == "written"
  self:fit()
end

function Ask:close()
  vim.cmd.stopinsert()
  pcall(api.nvim_win_close, self.win, true)
end

---@return string? question that is not asked yet
function Ask:question()
  local text = vim.trim(table.concat(api.nvim_buf_get_lines(self.buf, 0, -1, true), "\n"))
  return self.state == "written" and text or nil
end

---@return string? question, string? text with the lines
function Ask:compose()
  local question = self:question()
  if not question then
    return nil
  elseif question == "" then
    return notify.info("write your question first")
  end
  local expanded, missing = require("claude-code.editor.prompt.expand").run(question, self.source)
  if missing then
    return notify.warn(("your question is not sent: {%s} stands for nothing here"):format(missing))
  end
  -- A ! at the beginning would run the lines in a shell.
  return question, (expanded:gsub("^!", " !")) .. "\n\n" .. self.text
end

---Submits the question as a prompt. One that Claude does not take stays in the float, or becomes a draft.
function Ask:send()
  local _, text = self:compose()
  if not text then
    return
  end
  local is_open, is_refused = true, false
  local options = { submit = true, n = self.n, name = "your question" }
  local found = prompt.send(text, options, function(is_sent)
    is_refused = not is_sent
    if is_refused and not is_open then
      require("claude-code.editor.prompt").add_to_draft(self.n or 1, vim.split(text, "\n"))
    end
  end)
  is_open = is_refused or not found
  if not found then
    require("claude-code.context.send").report_no_receiver()
  elseif not is_open then
    self.state = "sent"
    self:close()
  end
end

function Ask:show(question, answer)
  vim.bo[self.buf].modifiable = true
  local lines = vim.split(("❯ %s\n\n%s"):format(question, vim.trim(answer):gsub("\r", "")), "\n")
  api.nvim_buf_set_lines(self.buf, 0, -1, true, lines)
  self:enter("answered")
  api.nvim_win_set_cursor(self.win, { 1, 0 })
end

---@return integer|claude-code.SessionKey? key of the session, if its CLI has a mod
function Ask:key_of_mod()
  local row = vim.iter(sessions.list()):find(function(row)
    return row.mod and (self.n and row.n == self.n or not self.n and row.connected)
  end)
  return row and (row.n or { pid = row.pid })
end

---Asks a question that leaves no trace in the conversation.
function Ask:ask_aside()
  local question, text = self:compose()
  local key, openly = self:key_of_mod(), self.is_aside and ":Claude ask" or "<CR>"
  if not text then
    return
  elseif not key then
    local words = "asking aside needs the mod (:checkhealth claude-code); %s asks openly"
    return notify.warn(words:format(openly))
  end
  local mode = api.nvim_get_mode().mode
  vim.cmd.stopinsert()
  self:enter("waits")
  history.add(question)
  mod.ask(key, text, function(failure, answer)
    if current ~= self then
      return
    elseif not failure then
      return self:show(question, answer.text)
    end
    self:enter("written")
    if mode == "i" and api.nvim_get_current_win() == self.win then
      vim.cmd.startinsert({ bang = true })
    end
    local is_new = failure.message:find("nothing-to-fork", 1, true)
    local new = ("no conversation to ask aside yet; %s begins it"):format(openly)
    notify.warn(is_new and new or failure.message)
  end)
end

function Ask:map_keys()
  local function map(modes, key, desc, run)
    vim.keymap.set(modes, key, function()
      run(self)
    end, { buffer = self.buf, nowait = true, desc = desc })
  end
  map({ "n", "i" }, "<CR>", "Ask", self.ask)
  map({ "n", "i" }, "<C-s>", "Ask aside", self.ask_aside)
  map("n", "q", "Close", self.close)
  map("n", "<Esc>", "Close", self.close)
end

---Follows the text. Keeps a question that was not asked, and restores what the float changed, however it closes.
function Ask:follow()
  local events = require("claude-code.lib.autocommands").new("ask")
  events:on({ "TextChanged", "TextChangedI", "TextChangedP" }, function()
    self:fit()
  end, { buffer = self.buf })
  events:on("WinClosed", function()
    current = nil
    events:stop()
    local question = self:question() or ""
    if question ~= "" then
      history.add(question)
      notify.info("question kept: <C-p> in :Claude ask shows it")
    end
    if api.nvim_buf_is_valid(self.source) then
      api.nvim_buf_clear_namespace(self.source, NAMESPACE, 0, -1)
    end
    if windows.shows(self.beside, self.source) then
      api.nvim_win_call(self.beside, function()
        fn.winrestview({ topline = self.view.topline })
      end)
    end
  end, { pattern = tostring(self.win) })
end

---Marks the lines, and scrolls them up if they fill their window.
function Ask:mark_lines()
  api.nvim_buf_set_extmark(self.source, NAMESPACE, self.first - 1, 0, {
    end_row = self.last,
    hl_group = "ClaudeCodeTranscriptFollowed",
    hl_eol = true,
    strict = false,
  })
  if self:spot(MIN_ROWS) < MIN_ROWS then
    local rest = api.nvim_win_get_height(self.beside) - MIN_ROWS - BORDER
    fn.winrestview({ topline = math.max(self.first, self.last - rest) })
  end
end

---Opens the float at lines of the current buffer, or returns to a question that is not answered. In the answer's float
---it is about the same lines.
---@param first integer 1-based
---@param last integer included
---@param question? string asks it at once
function M.open(first, last, question, is_aside)
  if current and current.state ~= "answered" and question then
    return notify.warn("your question is not sent: another one is open (:Claude ask shows it)")
  elseif current and current.state ~= "answered" then
    return api.nvim_set_current_win(current.win)
  elseif current and current.buf == api.nvim_get_current_buf() then
    first, last = current.first, current.last
    current:close()
  end
  local n, source = require("claude-code.terminal.running").current(), api.nvim_get_current_buf()
  if require("claude-code.context.send").refuse_private(source) then
    return
  elseif not prompt.is_there() then
    return require("claude-code.context.send").report_no_receiver()
  elseif current then
    current:close()
  end
  local self = setmetatable({ n = n, source = source, first = first, last = last }, Ask)
  local text, place = require("claude-code.editor.prompt.expand").lines(source, first, last)
  local whom = n and require("claude-code.sessions.label").of(n) or "Claude"
  self.text, self.title = text, ("Ask %s about %s"):format(whom, place)
  self.beside, self.view = api.nvim_get_current_win(), fn.winsaveview()
  self.is_aside, self.ask = is_aside, is_aside and self.ask_aside or self.send
  self.buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(self.buf, "claude-code://ask/" .. place)
  vim.bo[self.buf].bufhidden = "wipe"
  require("claude-code.editor.documents.parsing").set_filetype(self.buf, "markdown")
  self:mark_lines()
  self:enter("written")
  windows.set_options(self.win, { wrap = true, linebreak = true, winfixbuf = true })
  self:map_keys()
  self:follow()
  current = self
  require("claude-code.editor.prompt.completion").attach(self.buf)
  history.attach(self.buf)
  if not question then
    return vim.cmd.startinsert()
  end
  api.nvim_buf_set_lines(self.buf, 0, -1, true, { question })
  self:fit()
  self:ask()
end

return M
