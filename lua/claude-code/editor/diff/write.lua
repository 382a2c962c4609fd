--- Writing the proposal. A `:w`, `:wq`, `:x` or `:update` that the user typed accepts it; any other
--- write (an auto-save plugin's, `:wall`) does not, and leaves the buffer as it is.
local api = vim.api
local command_line = require("claude-code.editor.diff.command_line")
local keys = require("claude-code.editor.diff.keys")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local windows = require("claude-code.editor.windows")

local ACCEPTING = { exit = true, update = true, wq = true, write = true, xit = true }

---They write what was edited; each time a message says that they accept nothing.
local WRITING_ALL = { wall = true, wqall = true, xall = true }

---:x and :update write a modified buffer only; the user means it in any case.
local ONLY_IF_MODIFIED = { exit = true, update = true, xit = true }

---@class claude-code.Writes
---@field private proposal claude-code.Proposal
---@field private guard claude-code.DecisionGuard
---@field private accept fun(force: boolean): boolean
---@field private typed boolean the command line that is being executed writes the proposal
---@field private is_early boolean that command line was begun while the guard was active
---@field private hinted boolean a message said that such writes accept nothing
local Writes = {}
Writes.__index = Writes

local M = {}

---@param name string
---@param bytes string
---@return string? failure
local function write_file(name, bytes)
  local file, failure = io.open(name, "wb")
  if not file then
    return failure and failure:gsub("^.*: ", "") or "unknown"
  end
  local written, reason = file:write(bytes)
  local closed, late_reason = file:close()
  return (not written and reason) or (not closed and late_reason) or nil
end

---A command line is about to be executed: is it one that writes the proposal?
---@private
---@param command string
---@param is_early boolean
function Writes:on_command(command, is_early)
  local buf = self.proposal.new_buf
  self.is_early = is_early
  if WRITING_ALL[command] then
    self.hinted = false
  elseif ACCEPTING[command] and api.nvim_get_current_buf() == buf then
    self.typed = true
    if ONLY_IF_MODIFIED[command] then
      vim.bo[buf].modified = true
    end
    vim.schedule(function()
      self.typed = false
    end)
  end
end

---`:w other.txt`: a copy, as in Vim. It is what accepting would give.
---@private
---@param target string
function Writes:copy(target)
  local name = path.normal(target)
  local base = path.base(name)
  if vim.uv.fs_stat(name) and vim.v.cmdbang == 0 then
    return notify.error(("%s exists (add ! to replace it)"):format(base))
  end
  local failure = write_file(name, self.proposal:text())
  if failure then
    return notify.error(("cannot write a copy to %s: %s"):format(base, failure))
  end
  notify.info(("wrote a copy to %s; the proposal still waits for your answer"):format(base))
end

---`:saveas` gave the proposal's name to another buffer, and that one's to the proposal.
---@private
function Writes:take_name_back()
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
function Writes:hint()
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
function Writes:fail()
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
function Writes:on_write(target)
  if self.typed and (self.is_early or self.guard:is_active()) then
    self.guard:report("nothing was written, write again")
    self:fail()
  elseif target ~= self.proposal.label then
    self:take_name_back()
    self:copy(target)
  elseif not self.typed then
    self:hint()
  else
    self.typed = false
    -- So that :wq and :x can go on and close the window.
    vim.bo[self.proposal.new_buf].modified = false
    if not self.accept(vim.v.cmdbang == 1) then
      self:fail()
    end
  end
end

---@param proposal claude-code.Proposal with its buffers
---@param guard claude-code.DecisionGuard
---@param group integer
---@param accept fun(force: boolean): boolean called in the middle of the write; false: not accepted
---@param refilled fun() called when `:edit!` has brought back the text as proposed
function M.attach(proposal, guard, group, accept, refilled)
  local writes = setmetatable({ proposal = proposal, guard = guard, accept = accept }, Writes)
  writes.typed, writes.is_early, writes.hinted = false, false, false
  command_line.watch(guard, group, function(command, is_early)
    writes:on_command(command, is_early)
  end)
  api.nvim_create_autocmd("BufWriteCmd", {
    group = group,
    buffer = proposal.new_buf,
    callback = function(args)
      writes:on_write(args.match)
    end,
  })
  for _, buf in ipairs(proposal:buffers()) do
    api.nvim_create_autocmd("BufReadCmd", {
      group = group,
      buffer = buf,
      callback = function()
        proposal:refill(buf)
        refilled()
      end,
    })
  end
end

return M
