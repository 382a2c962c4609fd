--- The executable, downloaded when it is first needed, if the options `binary.*` and the user allow it.
local M = {}

---@param callback fun(binary: claude-code.Binary?, message: string?)
---@return fun(executable: string?, message: string?)
local function as_binary(callback)
  return function(executable, message)
    callback(executable and { path = executable, source = "managed" }, message)
  end
end

--- Lets the stable path, which hooks call, lead to the version in use: after a return to an older
--- plugin it still led to the newer one.
---@param executable string
local function make_current(executable)
  local store = require("claude-code.install.store")
  local folder = vim.fs.basename(vim.fs.dirname(executable))
  if vim.fs.dirname(vim.fs.dirname(executable)) ~= store.root() or store.current() == folder then
    return
  end
  require("claude-code.install.async").run(function()
    return store.set_current(executable)
  end, function(done, message)
    if not done then
      require("claude-code.messages.log").warn("%s", message)
    end
  end)
end

--- An installed version that works with this plugin is better than none, until the right one can be
--- had: the next start tries again.
---@param callback fun(binary: claude-code.Binary?, message: string?)
---@return fun(binary: claude-code.Binary?, message: string?)
local function or_another_version(callback)
  return function(binary, message)
    local other, version
    if not binary then
      other, version = require("claude-code.install.store").find_compatible()
    end
    if other then
      local text = "version %s of the executable is used, because %s could not be installed: %s"
      local wanted = require("claude-code.install.contract").version
      require("claude-code.messages.notify").warn(text:format(version, wanted, message))
      binary = { path = other, source = "managed" }
    end
    if binary and binary.source == "managed" then
      make_current(binary.path)
    end
    callback(binary, message)
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

---@param release claude-code.Release
---@return string
local function question(release)
  local host = release.url:match("^%a+://([^/]+)")
  local text = "claude-code.nvim needs its executable (%.0f MB from %s). Download it now?"
  return text:format(release.size / 1e6, host)
end

--- Asks the user, if the option `binary.download` says so.
---@param release claude-code.Release
---@param callback fun(may_download: boolean)
local function ask(release, callback)
  if require("claude-code.config").get().binary.download ~= "prompt" then
    return callback(true)
  end
  vim.ui.select({ "Download", "Not now" }, { prompt = question(release) }, function(_, index)
    callback(index == 1)
  end)
end

--- Calls back with the executable: at once if it is there, or cannot be had; otherwise once an
--- installation that runs already, or a download that the options and the user allow, has ended. If
--- that fails, an installed version with the same contract will do, with a warning.
---@param callback fun(binary: claude-code.Binary?, message: string?)
function M.get(callback)
  local binary, missing, release = require("claude-code.install.locate").find()
  callback = or_another_version(callback)
  if binary then
    return callback(binary)
  end
  local install = require("claude-code.install")
  local unusable = release and require("claude-code.install.store").unusable(release)
  if install.is_running() then
    install.start({}, as_binary(callback))
  elseif unusable or not release then
    callback(nil, unusable or missing)
  else
    ask(release, function(may_download)
      if may_download then
        download(release, as_binary(callback))
      else
        callback(nil, missing)
      end
    end)
  end
end

return M
