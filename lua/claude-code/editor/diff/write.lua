--- Writing the proposal. A `:w`, `:wq`, `:x` or `:update` that a person typed accepts it; any other
--- write (an auto-save plugin's, `:wall`) does not, and leaves the buffer as it is.
local api = vim.api
local path = require("claude-code.editor.path")
local quiet = require("claude-code.editor.diff.quiet")
local say = require("claude-code.editor.say")

local ACCEPTING = { exit = true, update = true, wq = true, write = true, xit = true }

local M = {}

---Buffer whose write was typed on the command line that is being executed.
local typed ---@type integer?
---Was the command line begun when the diff listened to keys?
local heard = false
---Was that of the write not?
local early = false

---:x and :update write a modified buffer only; the person means it in any case.
local ONLY_IF_MODIFIED = { exit = true, update = true, xit = true }

---@return string? name full name of the command on the command line
local function typed_command()
  local ok, command = pcall(api.nvim_parse_cmd, vim.fn.getcmdline(), {})
  return ok and command.cmd or nil
end

---@param session claude-code.Diff
local function note_typed(session)
  local command = api.nvim_get_current_buf() == session.new_buf and typed_command()
  if not command or not ACCEPTING[command] then
    return
  end
  typed = session.new_buf
  early = not heard
  if ONLY_IF_MODIFIED[command] then
    vim.bo[session.new_buf].modified = true
  end
  vim.schedule(function()
    typed = nil
  end)
end

---`:w other.txt` and `:'<,'>w other.txt`: a copy, as in Vim.
---@param session claude-code.Diff
---@param target string
---@param first integer 1-based
---@param last integer 1-based, included
local function write_copy(session, target, first, last)
  local name = path.normal(target)
  if vim.uv.fs_stat(name) and vim.v.cmdbang == 0 then
    say.error(("%s exists (add ! to replace it)"):format(path.base(name)))
    return
  end
  local lines = api.nvim_buf_get_lines(session.new_buf, first - 1, last, false)
  if vim.fn.writefile(lines, name) == 0 then
    say.info(("wrote a copy to %s; the proposal still waits"):format(path.base(name)))
  end
end

---@param session claude-code.Diff
local function hint(session)
  if not session.hinted then
    session.hinted = true
    say.info("the proposal was not accepted by this write: <CR> accepts, q rejects")
  end
end

---A write that failed: `:wq` and `:x` must not go on and close the window.
---@param session claude-code.Diff
local function fail(session)
  local buf = session.new_buf
  -- Neovim takes a buffer that is still modified as the failure.
  vim.bo[buf].modified = true
  vim.schedule(function()
    if api.nvim_buf_is_valid(buf) then
      vim.bo[buf].modified = false
    end
  end)
end

---@param session claude-code.Diff
local function refuse(session)
  local base = path.base(session.new_path)
  say.warn(("the change of %s only just appeared: nothing was written or decided"):format(base))
  fail(session)
end

---@param session claude-code.Diff
---@param target string
---@param accept fun(): boolean
local function written(session, target, accept)
  if typed == session.new_buf and early then
    return refuse(session)
  end
  local first = api.nvim_buf_get_mark(session.new_buf, "[")[1]
  local last = api.nvim_buf_get_mark(session.new_buf, "]")[1]
  if target ~= api.nvim_buf_get_name(session.new_buf) then
    return write_copy(session, target, first, last)
  elseif first > 1 or last < api.nvim_buf_line_count(session.new_buf) then
    return say.error("a part of the proposal cannot be accepted by :w; nothing was decided")
  end
  if typed ~= session.new_buf then
    return hint(session)
  end
  typed = nil
  -- So that :wq and :x can go on and close the window.
  vim.bo[session.new_buf].modified = false
  if not accept() then
    fail(session)
  end
end

---`:edit!` brings back the text as proposed; there is no file of that name to read.
---@param session claude-code.Diff
---@param buf integer
local function read_again(session, buf)
  local is_new = buf == session.new_buf
  local modifiable = vim.bo[buf].modifiable
  vim.bo[buf].modifiable = true
  local lines = is_new and session.proposal.lines or session.old.lines
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = modifiable
  vim.bo[buf].modified = false
end

---@param session claude-code.Diff
---@param group integer
---@param accept fun(): boolean
function M.attach(session, group, accept)
  heard = false
  api.nvim_create_autocmd("CmdlineEnter", {
    group = group,
    pattern = ":",
    callback = function()
      heard = not quiet.is_deaf(session)
    end,
  })
  api.nvim_create_autocmd("CmdlineLeave", {
    group = group,
    pattern = ":",
    callback = function()
      if not vim.v.event.abort then
        note_typed(session)
      end
      heard = false
    end,
  })
  api.nvim_create_autocmd("BufWriteCmd", {
    group = group,
    buffer = session.new_buf,
    callback = function(args)
      written(session, args.match, accept)
    end,
  })
  for _, buf in ipairs({ session.old_buf, session.new_buf }) do
    api.nvim_create_autocmd("BufReadCmd", {
      group = group,
      buffer = buf,
      callback = function()
        read_again(session, buf)
      end,
    })
  end
end

return M
