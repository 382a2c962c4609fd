--- Work for a Claude elsewhere: files outside of the folders that it shares with this machine are private to it, and it
--- loads none that the user has not opened.
local finally = require("claude-code.lib.finally")
local paths = require("claude-code.editor.documents.path")

local M = {}

local shared ---@type string[]? for what runs now; nil: it is for a Claude here

---Runs work for a client.
---@param folders? string[] real paths; nil: those of what runs already
---@param work fun(...): ... it must not yield
---@param ... any
---@return any ... what it returns
function M.run(folders, work, ...)
  local before = shared
  shared = folders or before
  return finally(function()
    shared = before
  end, work, ...)
end

---@return fun(thread: thread): boolean, any resume as coroutine.resume(), for whom this runs now
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
