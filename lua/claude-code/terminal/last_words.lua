--- A terminal whose command has ended, perhaps while somebody was typing to it: Neovim closes it at
--- the next key of terminal mode, and the keys after that would go to the file behind it.
local api = vim.api

local M = {}

--- Who types on does so within this time, in ms.
local QUIET_MS = 500

--- Terminal mode, in whatever way it is asked for, ends as it begins.
---@param buf integer
local function stay_readable(buf)
  api.nvim_create_autocmd("TermEnter", {
    buffer = buf,
    callback = function()
      vim.cmd.stopinsert()
    end,
  })
end

--- Hears nothing until no key was typed for a while.
---@param buf integer
---@param callback fun()
local function hush(buf, callback)
  local guard = require("claude-code.editor.input.guard")
  local timer = assert(vim.uv.new_timer())
  local function rest()
    timer:start(
      QUIET_MS,
      0,
      vim.schedule_wrap(function()
        if timer:is_closing() then
          return
        elseif timer:get_due_in() > 0 then
          return -- a key came in between
        end
        timer:close()
        guard.unblock(buf)
        callback()
      end)
    )
  end
  if api.nvim_buf_is_valid(buf) then
    guard.block(buf, rest)
  end
  rest()
end

--- Calls back once what is typed cannot have been meant for the command.
---@param buf integer
---@param typing boolean whether terminal mode is on there, or about to be
---@param callback fun()
function M.keep(buf, typing, callback)
  if not api.nvim_buf_is_valid(buf) then
    return callback()
  end
  stay_readable(buf)
  if not typing or api.nvim_get_current_buf() ~= buf then
    return callback()
  end
  vim.cmd.stopinsert()
  hush(buf, callback)
end

return M
