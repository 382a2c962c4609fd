--- Marks work that runs for a Claude on another machine. Files outside of the folders that both machines share are
--- private to it, and files that the user has not opened are not loaded for it.
local finally = require("claude-code.lib.finally")
local paths = require("claude-code.editor.documents.path")

local M = {}

local shared ---@type string[]? nil: the current work is for a Claude on this machine

---@param folders? string[] real paths; nil: those of the work that calls this
---@param work fun(...): ... must not yield
---@param ... any
---@return any ... results of `work`
function M.run(folders, work, ...)
  local before = shared
  shared = folders or before
  return finally(function()
    shared = before
  end, work, ...)
end

---@return fun(thread: thread): boolean, any resume like coroutine.resume(), with the current folders
function M.resuming()
  local folders = shared
  return function(thread)
    return M.run(folders, coroutine.resume, thread)
  end
end

---@return string[]? folders for `run`
function M.current()
  return shared
end

---@param real string real path
function M.hides(real)
  return shared ~= nil and not paths.is_in_any(real, shared)
end

return M
