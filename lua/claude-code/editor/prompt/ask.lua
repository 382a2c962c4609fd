--- Asks Claude about lines of a buffer, in a float at those lines (`:Claude ask`). A side question leaves no trace in
--- the conversation, and its answer appears in the float.
local api, fn = vim.api, vim.fn
local mod = require("claude-code.sessions.mod")
local notify = require("claude-code.messages.notify")
require("claude-code.lib.highlights")

local M = {}

local NAMESPACE = api.nvim_create_namespace("claude-code.ask")
local MAX_WIDTH = 100
---Rows of the border, and rows for the text beside the lines without which the window scrolls.
local BORDER, MIN_ROOM = 2, 3

---@class claude-code.Ask
---@field n? integer number of the session; nil: a CLI in a terminal that the user opened
---@field source integer buffer of the lines
---@field beside integer window that shows them
---@field view vim.fn.winsaveview.ret of that window
---@field first integer 1-based
---@field last integer
---@field text string the lines, as the prompt names them
---@field title string
---@field is_aside boolean <CR> asks a side question
---@field state "written"|"waits"|"answered"
---@field buf integer
---@field win integer
---@field events claude-code.Autocommands
local Ask = {}
Ask.__index = Ask

local current ---@type claude-code.Ask?

---@return integer row of the screen of the first line, 0 if it is not shown
---@return integer row of the end of the last line
local function rows_of(ask)
  local line = api.nvim_buf_get_lines(ask.source, ask.last - 1, ask.last, false)[1] or ""
  return fn.screenpos(ask.beside, ask.first, 1).row,
    fn.screenpos(ask.beside, ask.last, math.max(1, #line)).row
end

---Finds room below the lines, or else above them.
---@param wanted integer
---@return integer height
---@return integer row of the float, from 0
local function spot(ask, wanted)
  local top, bottom = rows_of(ask)
  local screen = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  local below = bottom == 0 and 0 or screen - bottom - BORDER
  local above = top - 1 - BORDER
  if below >= wanted or below >= above then
    local height = math.max(1, math.min(wanted, below))
    return height, below > 0 and bottom or screen - height - BORDER
  end
  local height = math.min(wanted, above)
  return height, top - 1 - height - BORDER
end

---Scrolls the lines up if they fill the window.
local function make_room(ask)
  local last = ask.last - api.nvim_win_get_height(ask.beside) + MIN_ROOM + BORDER
  if spot(ask, MIN_ROOM) < MIN_ROOM then
    api.nvim_win_call(ask.beside, function()
      fn.winrestview({ topline = math.max(ask.first, last) })
    end)
  end
end

local FOOTERS = {
  written = " <CR> asks   <C-s> asks aside   <Esc> closes ",
  aside = " <CR> asks aside   <Esc> closes ",
  waits = " Claude thinks …   q closes ",
  answered = " not in the conversation   q closes ",
}

---Fits the float to its text, its state and the screen.
function Ask:fit()
  local info = fn.getwininfo(self.beside)[1] or { wincol = 1, textoff = 0, width = 80 }
  local room = math.max(info.width - info.textoff, math.min(60, vim.o.columns)) - BORDER
  local width = math.max(1, math.min(MAX_WIDTH, room))
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
  config.height, config.row = spot(self, api.nvim_win_text_height(self.win, {}).all)
  api.nvim_win_set_config(self.win, config)
end

---@param state "written"|"waits"|"answered"
function Ask:enter(state)
  self.state = state
  vim.bo[self.buf].modifiable = state == "written"
  self:fit()
end

function Ask:close()
  if api.nvim_get_current_win() == self.win then
    vim.cmd.stopinsert()
  end
  pcall(api.nvim_win_close, self.win, true)
end

---Keeps a question that Claude perhaps did not receive.
local function keep(n, text, problem)
  local prompts = require("claude-code.editor.prompt")
  local draft = prompts.draft(n)
  local lines = vim.list_extend(prompts.read_draft(draft), vim.split(text, "\n"))
  local failure = prompts.keep_draft(draft, lines)
  notify.error(problem .. (failure and "" or "; :Claude prompt shows your question"))
end

---Submits a prompt by the mod, or by a paste.
---@return boolean may_close
local function submit(n, text)
  local prompt = require("claude-code.terminal.prompt")
  if n and mod.has(n) then
    mod.submit(n, text, function(failure)
      if failure and not (failure.code == "no_mod" and prompt.paste(text, true, n)) then
        keep(n, text, failure.message)
      end
    end)
    return true
  elseif prompt.refuse_while_asking("your question", n) then
    return false
  end
  local is_pasted = prompt.paste(text, true, n)
  if not is_pasted then
    notify.warn("no Claude runs in this Neovim; :Claude starts it")
  end
  return is_pasted
end

function Ask:answer(question, text)
  vim.bo[self.buf].modifiable = true
  local lines = vim.split("❯ " .. question .. "\n\n" .. vim.trim(text):gsub("\r", ""), "\n")
  api.nvim_buf_set_lines(self.buf, 0, -1, true, lines)
  self:enter("answered")
  api.nvim_win_set_cursor(self.win, { 1, 0 })
end

---Lets <CR> ask in the conversation instead.
function Ask:refuse_aside(problem)
  self.is_aside = false
  self:enter("written")
  notify.warn(problem)
end

function Ask:ask_aside(question, text)
  if not (self.n and mod.has(self.n)) then
    return self:refuse_aside(
      "asking aside needs the mod (:checkhealth claude-code); <CR> asks openly"
    )
  end
  vim.cmd.stopinsert()
  self:enter("waits")
  mod.ask(self.n, text, function(failure, answer)
    if current ~= self then
      return
    elseif not failure then
      return self:answer(question, answer.text)
    end
    local is_new = failure.message:find("nothing-to-fork", 1, true)
    self:refuse_aside(
      is_new and "no conversation to ask aside yet; <CR> begins it" or failure.message
    )
  end)
end

---@param is_aside boolean
function Ask:send(is_aside)
  local question = vim.trim(table.concat(api.nvim_buf_get_lines(self.buf, 0, -1, true), "\n"))
  if self.state ~= "written" or question == "" then
    return
  end
  local expanded, missing = require("claude-code.editor.prompt.expand").run(question, self.source)
  if missing then
    return notify.warn(("your question is not sent: {%s} stands for nothing here"):format(missing))
  end
  -- A ! at the beginning would run the lines in a shell.
  local text = expanded:gsub("^!", " !") .. "\n\n" .. self.text
  if is_aside then
    self:ask_aside(question, text)
  elseif submit(self.n, text) then
    self:close()
  end
end

local function map_keys(ask)
  local function map(modes, key, desc, run)
    vim.keymap.set(modes, key, run, { buffer = ask.buf, nowait = true, desc = desc })
  end
  map({ "n", "i" }, "<CR>", "Ask", function()
    ask:send(ask.is_aside)
  end)
  map({ "n", "i" }, "<C-s>", "Ask aside", function()
    ask:send(true)
  end)
  for _, key in ipairs({ "q", "<Esc>" }) do
    map("n", key, "Close", function()
      ask:close()
    end)
  end
end

---Restores what the float changed, however it closes.
local function follow(ask)
  ask.events = require("claude-code.lib.autocommands").new("ask")
  ask.events:on("WinClosed", function()
    current = nil
    ask.events:stop()
    if api.nvim_buf_is_valid(ask.source) then
      api.nvim_buf_clear_namespace(ask.source, NAMESPACE, 0, -1)
    end
    if require("claude-code.editor.windows").shows(ask.beside, ask.source) then
      api.nvim_win_call(ask.beside, function()
        fn.winrestview(ask.view)
      end)
    end
  end, { pattern = tostring(ask.win) })
  ask.events:on({ "TextChanged", "TextChangedI", "TextChangedP" }, function()
    ask:fit()
  end, { buffer = ask.buf })
  ask.events:on("VimResized", function()
    ask:fit()
  end)
end

---Opens the float at lines of the current buffer, or returns to the one with an unsent question.
---@param first integer 1-based
---@param last integer included
---@param is_aside boolean
function M.open(first, last, is_aside)
  local running, source = require("claude-code.terminal.running"), api.nvim_get_current_buf()
  if current and current.state ~= "answered" then
    return api.nvim_set_current_win(current.win)
  elseif require("claude-code.context.send").refuse_private(source) then
    return
  elseif not require("claude-code.terminal.prompt").is_there() then
    return notify.warn("no Claude runs in this Neovim; :Claude starts it")
  elseif current then
    current:close()
  end
  local n = running.current()
  local text, place = require("claude-code.editor.prompt.expand").lines(source, first, last)
  local whom = n and require("claude-code.sessions.label").of(n) or "Claude"
  local ask = setmetatable({
    n = n,
    source = source,
    beside = api.nvim_get_current_win(),
    view = fn.winsaveview(),
    first = first,
    last = last,
    text = text,
    title = ("Ask %s about %s"):format(whom, place),
    is_aside = is_aside,
    buf = api.nvim_create_buf(false, true),
  }, Ask)
  vim.bo[ask.buf].bufhidden = "wipe"
  require("claude-code.editor.documents.parsing").set_filetype(ask.buf, "markdown")
  api.nvim_buf_set_extmark(source, NAMESPACE, first - 1, 0, {
    end_row = last,
    hl_group = "ClaudeCodeTranscriptFollowed",
    hl_eol = true,
    strict = false,
  })
  make_room(ask)
  ask:enter("written")
  require("claude-code.editor.windows").set_options(
    ask.win,
    { wrap = true, linebreak = true, winfixbuf = true }
  )
  map_keys(ask)
  follow(ask)
  current = ask
  require("claude-code.editor.prompt.completion").attach(ask.buf)
  require("claude-code.editor.windows.focus").begin_insert_mode(function()
    return false
  end)
end

return M
