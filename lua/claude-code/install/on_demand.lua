--- The executable, downloaded when it is first needed.
local M = {}

---@param callback fun(binary: claude-code.Binary?, message: string?)
---@return fun(executable: string?, message: string?)
local function as_binary(callback)
  return function(executable, message)
    callback(executable and { path = executable, source = "managed" }, message)
  end
end

---@param release claude-code.Release
---@param callback fun(executable: string?, message: string?)
local function download(release, callback)
  local notify = require("claude-code.messages.notify")
  local text = "downloading the executable (%.0f MB), once for this version"
  notify.info(text:format(release.size / 1e6))
  require("claude-code.install").start({ release = release }, function(executable, message)
    if executable then
      notify.info("installed " .. executable)
    end
    callback(executable, message)
  end)
end

--- Calls back with the executable: at once if it is there, or cannot be had; otherwise once an
--- installation that runs already, or a download that the options and the user allow, has ended.
---@param callback fun(binary: claude-code.Binary?, message: string?)
function M.get(callback)
  local binary, missing, release = require("claude-code.install.locate").find()
  local install = require("claude-code.install")
  if binary then
    callback(binary)
  elseif install.is_running() then
    install.start({}, as_binary(callback))
  elseif not release then
    callback(nil, missing)
  else
    require("claude-code.install.permission").ask(release, function(may_download)
      if may_download then
        download(release, as_binary(callback))
      else
        callback(nil, missing)
      end
    end)
  end
end

return M
