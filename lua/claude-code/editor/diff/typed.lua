--- What the user types to write a proposal or to close a window of its diff. `:w`, `:wq`, `:x` and `:update` accept
--- it; a key or command that closes a window rejects it, or puts it aside with the user's edits unless that is `ZQ`
--- or has a !. So does a mapping that begins with such a command (`<Cmd>w<CR>`). Any other write (an auto-save
--- plugin's, `:wall`), and whatever else closes the windows, decides nothing.
local api = vim.api
local commands = require("claude-code.editor.input.commands")
local keys = require("claude-code.editor.diff.keys")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local windows = require("claude-code.editor.windows")

---:x and :update write a modified buffer only; the user means it in any case.
local WRITING = {
  exit = "if modified",
  update = "if modified",
  wq = "always",
  write = "always",
  xit = "if modified",
}

---They write what was edited; each time a message says that they accept nothing.
local WRITING_ALL = { wall = true, wqall = true, xall = true }

local CLOSING = { close = true, quit = true }
local CTRL_W, CTRL_Q = "\23", "\17"
local CLOSING_KEYS =
  { [CTRL_W .. "c"] = true, [CTRL_W .. "q"] = true, [CTRL_W .. CTRL_Q] = true, ZQ = true }

local NAMESPACE = api.nvim_create_namespace("claude-code.diff.typed")

---@class claude-code.Typed
---@field is_closing boolean a key or command to close was typed, and not executed yet, or only just
---@field private watch claude-code.Watch
---@field private commands claude-code.CommandWatch
---@field private diff claude-code.Diff
---@field private proposal claude-code.Proposal
---@field private guard claude-code.DecisionGuard while it is active, nothing decides
---@field private is_writing boolean the command line that is being executed writes the proposal
---@field private is_early boolean that command line was begun while the guard was active
---@field private is_stopped boolean
---@field private hinted boolean a message said that such writes accept nothing
local Typed = {}
Typed.__index = Typed

local M = {}

---`:saveas` gave the proposal's name to another buffer, and that one's to the proposal.
---@private
function Typed:take_name_back()
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
function Typed:hint()
  if not self.hinted then
    self.hinted = true
    local accept = keys.of("accept")[1] or ":Claude diff accept"
    local reject = keys.of("reject")[1] or ":Claude diff reject"
    local text = "this write decided nothing: %s accepts the proposal, %s rejects it"
    notify.info(text:format(accept, reject))
  end
end

---The write failed: `:wq` and `:x` must not go on and close the window.
---@private
function Typed:fail()
  local buf = self.proposal.new_buf
  -- Neovim takes a buffer that is still modified as the failure.
  vim.bo[buf].modified = true
  vim.schedule(function()
    if api.nvim_buf_is_valid(buf) then
      vim.bo[buf].modified = false
    end
  end)
end

---@private
---@param target string
function Typed:on_write(target)
  if self.is_writing and (self.is_early or self.guard:is_active()) then
    self.guard:report("nothing was written, write again")
    self:fail()
  elseif target ~= self.proposal.label then
    self:take_name_back()
    local text = "%s was not written: the proposal is written by accepting it, and to no other file"
    notify.error(text:format(path.base(target)))
  elseif not self.is_writing then
    self:hint()
  else
    self.is_writing = false
    -- So that :wq and :x can go on and close the window.
    vim.bo[self.proposal.new_buf].modified = false
    if not self.diff:accept({ in_write = true, force = vim.v.cmdbang == 1 }) then
      self:fail()
    end
  end
end

---What closes was typed, and is about to be executed.
---@private
---@param force boolean the user's edits may go
function Typed:on_close(force)
  local win, view = api.nvim_get_current_win(), self.diff.view
  if not view or self.guard:is_active() or not vim.tbl_contains(view.layout.windows, win) then
    return
  end
  self.is_closing = true
  -- What was typed is executed before that.
  vim.schedule(function()
    self.is_closing = false
    if self.is_stopped then
      return
    elseif api.nvim_win_is_valid(win) then
      self.watch:check_windows()
    else
      self.diff:leave(force)
    end
  end)
end

---@private
---@param command string that is about to be executed
---@param bang boolean
function Typed:on_command(command, bang)
  local buf = self.proposal.new_buf
  if WRITING_ALL[command] then
    self.hinted = false
  elseif WRITING[command] and api.nvim_get_current_buf() == buf then
    self.is_writing = true
    if WRITING[command] == "if modified" then
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
---@param events claude-code.Autocommands
function Typed:follow(events)
  events:on("BufWriteCmd", function(_, args)
    self:on_write(args.match)
  end, { buffer = self.proposal.new_buf })
  local previous = ""
  self.commands = {
    namespace = NAMESPACE,
    begin = function()
      self.is_early = self.guard:is_active()
    end,
    run = function(command, bang)
      self:on_command(command, bang)
    end,
    key = function(key)
      if CLOSING_KEYS[previous .. key] and vim.fn.mode() == "n" then
        self:on_close(previous .. key == "ZQ")
      end
      previous = key
    end,
  }
  commands.follow(events, self.commands)
end

function Typed:stop()
  self.is_stopped = true
  commands.unfollow(self.commands)
end

---@param watch claude-code.Watch
---@param events claude-code.Autocommands
---@return claude-code.Typed
function M.watch(watch, events)
  local diff = watch.view.diff
  local typed = setmetatable({
    watch = watch,
    diff = diff,
    proposal = diff.proposal,
    guard = watch.view.guard,
    is_closing = false,
    is_writing = false,
    is_early = false,
    is_stopped = false,
    hinted = false,
  }, Typed)
  typed:follow(events)
  return typed
end

return M
