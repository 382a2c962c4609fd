--- The executable, downloaded when it is first needed, if the options `binary.*` allow it.
local M = {}

--- Lets the stable path, which hooks call, lead to the version in use: after a return to an older
--- plugin it still led to the newer one.
---@param executable string
local function make_current(executable)
  local done, message = require("claude-code.install.store").set_current(executable)
  if not done then
    require("claude-code.messages.log").warn("%s", message)
  end
end

--- Calls back with the executable: at once if it is there, or cannot be had; otherwise once an
--- installation that runs already, or a download that the options allow, has ended. If
--- that fails, another version will do until the next start, with a warning.
---@param callback fun(binary: claude-code.Binary?, message: string?)
function M.get(callback)
  local locate = require("claude-code.install.locate")
  local binary, missing, release = locate.find()
  if binary then
    if binary.source == "managed" then
      make_current(binary.path)
    end
    return callback(binary)
  end
  local installer = require("claude-code.install")
  local notify = require("claude-code.messages.notify")
  ---@param executable? string
  ---@param message? string
  local function installed(executable, message)
    local other = not executable and locate.other_version()
    if other then
      local text = "%s is used, because version %s of the executable could not be installed: %s"
      local wanted = require("claude-code.install.contract").version
      notify.warn(text:format(other.path, wanted, message))
    end
    callback(other or executable and { path = executable, source = "managed" }, message)
  end
  if installer.is_running() then
    installer.start({}, installed)
  elseif not release then
    callback(nil, missing)
  else
    installer.start({ release = release }, function(executable, message)
      if executable then
        notify.info("installed " .. executable)
      end
      installed(executable, message)
    end)
  end
end

return M
