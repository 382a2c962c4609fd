--- Notices what happens to a diff on screen: its windows, its file, its edits, its keys, and commands that the user
--- types. `:w`, `:wq`, `:x` and `:update` accept it; a key or command that closes a window rejects it. With the user's
--- edits that postpones it, except for `ZQ` and commands with a !. A mapping that begins with such a command
--- (`<Cmd>w<CR>`) does the same. Any other write (an auto-save plugin's, `:wall`), or other end of a window, decides
--- nothing.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local channel = require("claude-code.server.channel")
local keyboard = require("claude-code.editor.input.keyboard")
local keys = require("claude-code.editor.diff.keys")
local notify = require("claude-code.messages.notify")
local original = require("claude-code.editor.diff.original")
local path = require("claude-code.editor.documents.path")
local queue = require("claude-code.editor.diff.queue")
local timer = require("claude-code.lib.timer")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

---How often everything is checked, in ms: much of what happens to a diff has no event (the executable died, a plugin
---closed a window with autocommands off, a program wrote the file).
local WATCHDOG_MS = 500

---Delay after an edit, in ms. Updates are expensive in big files; spend at most a fifth of the time on them.
local UPDATE = { min_ms = 10, max_ms = 1000, share = 0.2 }

local WRITING = { wq = true, write = true }
---These write only a modified buffer, but the user accepts in any case.
local WRITING_MODIFIED = { exit = true, update = true, xit = true }
---These accept nothing, and a message says so each time.
local WRITING_ALL = { wall = true, wqall = true, xall = true }

local CLOSING = { close = true, quit = true }
---CTRL-W with c, q or CTRL-Q; ZQ.
local CLOSING_KEYS = { ["\23c"] = true, ["\23q"] = true, ["\23\17"] = true, ZQ = true }

---@class claude-code.Watch
---@field private view claude-code.View
---@field private proposal claude-code.Proposal
---@field private guard claude-code.DecisionGuard while it is active, nothing decides
---@field private stops table<string, fun()> each ends one thing that was started
---@field private is_closing? boolean a key or command that closes was typed, and is about to be executed, or just was
---@field private is_writing? boolean the command line that is being executed writes the proposal
---@field private is_early? boolean that command line was begun while the guard was active
---@field private has_explained? boolean a message said that such writes accept nothing
local Watch = {}
Watch.__index = Watch

local M = {}

function M.start(view)
  local fields = { view = view, proposal = view.proposal, guard = view.guard, stops = {} }
  local watch = setmetatable(fields, Watch)
  local columns, rows = vim.o.columns, vim.o.lines
  watch.stops.watchdog = timer.every(WATCHDOG_MS, function()
    watch:check_windows()
    watch:check_file()
    if columns ~= vim.o.columns or rows ~= vim.o.lines then
      columns, rows = vim.o.columns, vim.o.lines
      view.layout:even_out()
    end
    if view.layout:is_cramped() then
      return queue.reopen(view.diff)
    end
    view:show_bars()
  end)
  watch:follow_events()
  watch:follow_edits()
  watch.stops.keys = keys.map(view.diff)
  watch.stops.original = original.map(view.proposal)
  return watch
end

---Ends what has this name, and starts something else in its place.
---@param start? fun(): fun() returns what ends it
function Watch:replace(name, start)
  local stop = self.stops[name]
  self.stops[name] = nil
  if stop then
    stop()
  end
  self.stops[name] = start and start()
end

---From now on nothing that happens to the windows decides.
function Watch:stop()
  for name in pairs(self.stops) do
    self:replace(name)
  end
end

---Updates counts and colours as the user edits the proposal. Called again after `:edit!`.
function Watch:follow_edits()
  self:replace("edits", function()
    local is_stopped = false
    local update_soon, cancel = timer.throttle(UPDATE, function()
      self.view:refresh()
    end)
    local function changed()
      if is_stopped then
        return true
      end
      update_soon()
    end
    api.nvim_buf_attach(self.proposal.new_buf, false, { on_lines = changed, on_reload = changed })
    update_soon()
    return function()
      is_stopped = true
      cancel()
    end
  end)
end

---@private
function Watch:check_windows()
  if not next(self.stops) or self.is_closing then
    return
  end
  -- Without the executable the diff is about to close.
  if channel.is_attached() and not self.view.layout:is_intact() then
    self.view.diff:postpone()
  end
end

---@private
function Watch:check_file()
  if not self.view:is_open() then
    return
  end
  local proposal = self.proposal
  local is_written, is_edited = proposal:follow_disk(), proposal:find_unsaved()
  if is_written and api.nvim_get_mode().mode == "n" then
    -- The user may be about to accept text they have not seen.
    self.guard:restart("was updated")
  end
  if is_written or is_edited then
    self.view:refresh()
    proposal:report(is_edited and proposal.unsaved, is_written)
  end
end

---Fails the write: `:wq` and `:x` must not close the window.
---@private
function Watch:fail()
  local buf = self.proposal.new_buf
  -- Neovim takes a buffer that is still modified as the failure.
  vim.bo[buf].modified = true
  vim.schedule(function()
    if api.nvim_buf_is_valid(buf) then
      vim.bo[buf].modified = false
    end
  end)
end

---`:saveas` has swapped the names of the proposal and another buffer.
---@private
function Watch:restore_name()
  local buf, label = self.proposal.new_buf, self.proposal.label
  vim.schedule(function()
    if self.proposal.new_buf ~= buf or api.nvim_buf_get_name(buf) == label then
      return
    end
    windows.noautocmd(function()
      for _, other in ipairs(api.nvim_list_bufs()) do
        if other ~= buf and api.nvim_buf_get_name(other) == label then
          api.nvim_buf_delete(other, { force = true })
        end
      end
      api.nvim_buf_set_name(buf, label)
    end)
  end)
end

---@private
---@param target string name to which the buffer is written
function Watch:on_write(target)
  if self.is_writing and (self.is_early or self.guard:is_active()) then
    self.guard:report("write again, nothing was written")
    self:fail()
  elseif target ~= self.proposal.label then
    self:restore_name()
    local text =
      "%s was not written: a proposal is written only by accepting it, and only to its own file"
    notify.error(text:format(path.base(target)))
  elseif self.is_writing then
    self.is_writing = false
    -- :wq and :x then close the window.
    vim.bo[self.proposal.new_buf].modified = false
    if not self.view.diff:accept({ in_write = true, force = vim.v.cmdbang == 1 }) then
      self:fail()
    end
  elseif not self.has_explained then
    self.has_explained = true
    local accept = keys.of("accept")[1] or ":Claude diff accept"
    local reject = keys.of("reject")[1] or ":Claude diff reject"
    local text = "this write decided nothing: %s accepts the proposal, %s rejects it"
    notify.info(text:format(accept, reject))
  end
end

---A key or command that closes is about to be executed.
---@private
---@param force boolean the user's edits may go
function Watch:on_close(force)
  local win = api.nvim_get_current_win()
  if not vim.list_contains(self.view.layout.windows, win) then
    return
  end
  self.is_closing = true
  -- Neovim executes it before that.
  vim.schedule(function()
    self.is_closing = false
    if api.nvim_win_is_valid(win) then
      self:check_windows()
    elseif next(self.stops) then
      self.view.diff:quit(force)
    end
  end)
end

---A command is about to be executed.
---@private
function Watch:on_command(command, bang)
  local buf = self.proposal.new_buf
  if WRITING_ALL[command] then
    self.has_explained = false
  elseif (WRITING[command] or WRITING_MODIFIED[command]) and api.nvim_get_current_buf() == buf then
    self.is_writing = true
    if WRITING_MODIFIED[command] then
      vim.bo[buf].modified = true
    end
    vim.schedule(function()
      self.is_writing = false
    end)
  elseif CLOSING[command] and not self.is_early then
    self:on_close(bang)
  end
end

---@private
function Watch:follow_typing(events)
  local previous, is_early = "", false
  return keyboard.follow_commands(events, {
    begin = function()
      self.is_early = self.guard:is_active()
    end,
    run = function(command, bang)
      self:on_command(command, bang)
    end,
    key = function(key)
      local closes = CLOSING_KEYS[previous .. key] and vim.fn.mode() == "n"
      if closes and not is_early then
        self:on_close(previous .. key == "ZQ")
      end
      previous, is_early = key, self.guard:is_active()
    end,
  })
end

---@private
function Watch:follow_events()
  local events, view = autocommands.new("diff"), self.view
  events:on("BufWinLeave", function()
    -- As Neovim ends, this comes before any VimLeavePre, where plugins save the windows as a session.
    if vim.v.exiting ~= vim.NIL then
      view:close_on_exit()
    end
    vim.schedule(function()
      self:check_windows()
    end)
  end)
  winbar.follow(events, function()
    view:show_bars()
  end)
  self.guard:follow(events, function()
    return view:is_inside()
  end)
  events:on("WinScrolled", function()
    if view:is_open() and view.layout:is_intact() then
      view.layout:refresh()
    end
  end)
  events:on("BufWriteCmd", function(_, args)
    self:on_write(args.match)
  end, { buffer = self.proposal.new_buf })
  self.stops.typing = self:follow_typing(events)
  function self.stops.events()
    events:stop()
  end
end

return M
