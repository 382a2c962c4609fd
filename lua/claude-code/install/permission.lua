--- Whether a missing executable may be downloaded: what the options `binary.*` say, and the user.
local M = {}

--- Whether it may be downloaded without a command, be it after a question. Without a UI, only a
--- command may fetch 50 MB.
---@return boolean
function M.is_download_allowed()
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

--- Asks the user, if the option `binary.download` says so.
---@param release claude-code.Release
---@param callback fun(may_download: boolean)
function M.ask(release, callback)
  if require("claude-code.config").get().binary.download ~= "prompt" then
    return callback(true)
  end
  vim.ui.select({ "Download", "Not now" }, { prompt = question(release) }, function(_, index)
    callback(index == 1)
  end)
end

return M
