--- The command lines that the user types while a diff is on screen.
local api = vim.api

local M = {}

---@return string name full name of the first command on the command line
local function command_name()
  local ok, command = pcall(api.nvim_parse_cmd, vim.fn.getcmdline(), {})
  return ok and command.cmd or ""
end

---Calls back when one is about to be executed.
---@param guard claude-code.DecisionGuard
---@param group integer of the autocommands
---@param typed fun(command: string, is_early: boolean) early: begun while the guard was active
function M.watch(guard, group, typed)
  local is_early = false
  api.nvim_create_autocmd("CmdlineEnter", {
    group = group,
    pattern = ":",
    callback = function()
      is_early = guard:is_active()
    end,
  })
  api.nvim_create_autocmd("CmdlineLeave", {
    group = group,
    pattern = ":",
    callback = function()
      if not vim.v.event.abort then
        typed(command_name(), is_early)
      end
    end,
  })
end

return M
