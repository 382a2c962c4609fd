--- Whether :Claude install runs as a plugin manager's build step, which has to wait for the end and
--- to see an error.
local M = {}

--- lazy.nvim runs `build = ":Claude install"` in a task, and takes an error for a failed build.
---@return boolean
local function is_lazy_task()
  local config = package.loaded["lazy.core.config"]
  return vim.iter(pairs(config and config.plugins or {})):any(function(_, plugin)
    return vim.iter(plugin._ and plugin._.tasks or {}):any(function(task)
      return task.name == "build" and task:running()
    end)
  end)
end

---@return boolean
function M.is_running()
  local ok, is_running = pcall(is_lazy_task)
  return ok and is_running
end

return M
