--- Writing the proposal. A `:w`, `:wq`, `:x` or `:update` that a person typed accepts it; any other
--- write (an auto-save plugin's, `:wall`) does not, and leaves the buffer as it is.
local api = vim.api
local choice = require("claude-code.editor.diff.hunks.actions")
local path = require("claude-code.editor.documents.path")
local quiet = require("claude-code.editor.diff.input_lock")
local notify = require("claude-code.messages.notify")
local windows = require("claude-code.editor.windows")

local ACCEPTING = { exit = true, update = true, wq = true, write = true, xit = true }

---They write what was edited, and are told each time that they accept nothing.
local WRITING_ALL = { wall = true, wqall = true, xall = true }

local M = {}

---Buffer whose write was typed on the command line that is being executed.
local typed ---@type integer?
---Was the command line begun when the diff listened to keys?
local heard = false
---Was that of the write not?
local early = false

---:x and :update write a modified buffer only; the person means it in any case.
local ONLY_IF_MODIFIED = { exit = true, update = true, xit = true }

---@return string name full name of the command on the command line
local function typed_command()
  local ok, command = pcall(api.nvim_parse_cmd, vim.fn.getcmdline(), {})
  return ok and command.cmd or ""
end

---@param session claude-code.Diff
local function note_typed(session)
  local command = typed_command()
  if WRITING_ALL[command] then
    session.hinted = false
    return
  elseif not ACCEPTING[command] or api.nvim_get_current_buf() ~= session.new_buf then
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

---`:w other.txt`: a copy, as in Vim. It is what accepting would give.
---@param session claude-code.Diff
---@param target string
local function write_copy(session, target)
  local name = path.normal(target)
  local base = path.base(name)
  if vim.uv.fs_stat(name) and vim.v.cmdbang == 0 then
    return notify.error(("%s exists (add ! to replace it)"):format(base))
  end
  local failure = write_file(name, session:text_of(choice.lines(session)))
  if failure then
    return notify.error(("no copy was written to %s: %s"):format(base, failure))
  end
  notify.info(("wrote a copy to %s; the proposal still waits"):format(base))
end

---`:saveas` gave the proposal's name to another buffer, and that one's to the proposal.
---@param session claude-code.Diff
local function take_name_back(session)
  local buf, label = session.new_buf, session.label
  vim.schedule(function()
    if session.new_buf ~= buf or api.nvim_buf_get_name(buf) == label then
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

---@param session claude-code.Diff
local function hint(session)
  if not session.hinted then
    session.hinted = true
    notify.info("the proposal was not accepted by this write: <CR> accepts, q rejects")
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
  notify.warn(("the change of %s only just appeared: nothing was written or decided"):format(base))
  fail(session)
end

---@param session claude-code.Diff
---@param target string
---@param accept fun(): boolean
local function written(session, target, accept)
  if typed == session.new_buf and early then
    return refuse(session)
  elseif target ~= session.label then
    take_name_back(session)
    return write_copy(session, target)
  elseif typed ~= session.new_buf then
    return hint(session)
  end
  typed = nil
  -- So that :wq and :x can go on and close the window.
  vim.bo[session.new_buf].modified = false
  if not accept() then
    fail(session)
  end
end

---@param session claude-code.Diff
---@param group integer
---@param accept fun(): boolean
---@param refilled fun() called when `:edit!` has brought back the text as proposed
function M.attach(session, group, accept, refilled)
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
        session:read_again(buf)
        refilled()
      end,
    })
  end
end

return M
