--- Downloads a missing executable when it is first needed, as far as the options `binary.*` allow.
local M = {}

--- Whether that is allowed at all. Without a user, only a command may fetch 50 MB.
---@return boolean
function M.is_allowed()
  local options = require("claude-code.config").get().binary
  local is_wanted = not options.path and (options.source == "auto" or options.source == "managed")
  return is_wanted and options.download ~= false and #vim.api.nvim_list_uis() > 0
end

---@param release claude-code.Release
---@return string
local function question(release)
  local host = release.url:match("^%a+://([^/]+)")
  local text = "claude-code.nvim needs its executable (%.0f MB from %s). Download it now?"
  return text:format(release.size / 1e6, host)
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

--- Downloads and installs `release`; asks before, if the option `binary.download` says so.
---@param release claude-code.Release
---@param callback fun(executable: string?, message: string?) without both: the user said no
function M.download(release, callback)
  if require("claude-code.config").get().binary.download ~= "prompt" then
    return download(release, callback)
  end
  local answers = { "Download", "Not now" }
  vim.ui.select(answers, { prompt = question(release) }, function(_, index)
    if index == 1 then
      download(release, callback)
    else
      callback()
    end
  end)
end

return M
