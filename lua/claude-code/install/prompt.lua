--- Gets the executable when it is first needed, as the option `binary.download` allows it.
local M = {}

---@param release claude-code.Release
---@return string
local function question(release)
  local host = release.url:match("^%a+://([^/]+)")
  local text = "claude-code.nvim needs its executable (%.0f MB from %s). Download it now?"
  return text:format(release.size / 1e6, host)
end

---@param callback fun(executable: string?, message: string?)
local function install(callback)
  local release = require("claude-code.install.release").find() --[[@as claude-code.Release]]
  local text = "downloading the executable (%.0f MB), once for this version"
  require("claude-code.messages.notify").info(text:format(release.size / 1e6))
  require("claude-code.install").start({}, function(executable, message)
    if executable then
      require("claude-code.messages.notify").info("installed " .. executable)
    end
    callback(executable, message)
  end)
end

--- Asks, if that is wanted, and installs.
---@param message string what the callback gets when it is not allowed
---@param callback fun(executable: string?, message: string?)
function M.obtain(message, callback)
  local install_module = require("claude-code.install")
  local release = require("claude-code.install.release").find()
  if not release or install_module.permission() == "no" then
    return callback(nil, message)
  elseif install_module.permission() == "yes" then
    return install(callback)
  end
  local answers = { "Download", "Not now" }
  vim.ui.select(answers, { prompt = question(release) }, function(_, index)
    if index == 1 then
      install(callback)
    else
      callback(nil, message)
    end
  end)
end

return M
