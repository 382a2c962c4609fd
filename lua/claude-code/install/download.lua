--- Fetches a release's archive by curl or, where that is missing, by GNU Wget.
local M = {
  --- Seconds: until a connection is made; without data, until a server counts as hanging; in all.
  limits = { connect_s = 20, stall_s = 30, total_s = 30 * 60 },
  --- Tried in this order.
  ---@type string[]
  downloaders = { "curl", "wget" },
}

local POLL_MS = 250

---@class claude-code.Transfer
---@field url string
---@field path string where the archive goes
---@field size integer bytes that are expected
---@field limits { connect_s: integer, stall_s: integer, total_s: integer }

---@class claude-code.Downloader
---@field available fun(): boolean, string? a message says why not
---@field fetch fun(transfer: claude-code.Transfer): boolean?, string?

---@return claude-code.Downloader?
---@return string? message why there is none
local function downloader()
  local reasons = {}
  for _, name in ipairs(M.downloaders) do
    ---@type claude-code.Downloader
    local candidate = require("claude-code.install.downloader." .. name)
    local available, reason = candidate.available()
    if available then
      return candidate
    end
    table.insert(reasons, reason)
  end
  local text = "this machine has neither curl nor GNU Wget (%s); install one"
  return nil, text:format(table.concat(reasons, "; "))
end

---@param release claude-code.Release
---@param cause string
---@return string
local function failed(release, cause)
  local text = "cannot download the executable: %s; :ClaudeCodeInstall tries again, "
    .. "`:ClaudeCodeInstall PATH` installs a file that you downloaded yourself (%s)"
  return text:format(cause, release.url)
end

--- Reports a file's size while it grows. A server that sends more than it should must not fill the disk:
--- of an answer without a length, curl before 8.4 and Wget take all.
---@param path string
---@param most integer bytes
---@param on_progress fun(bytes: integer)
---@return fun() stop
local function watch(path, most, on_progress)
  return require("claude-code.lib.timer").every(POLL_MS, function()
    local stat = vim.uv.fs_stat(path)
    if stat and stat.size > most then
      require("claude-code.install.async").kill_programs()
    elseif stat then
      on_progress(stat.size)
    end
  end)
end

---@param release claude-code.Release
---@param path string where the archive goes
---@param on_progress fun(bytes: integer) called a few times a second with the file's size
---@return boolean? done
---@return string? message
function M.fetch(release, path, on_progress)
  if not require("claude-code.install.url").is_safe(release.url) then
    return nil, failed(release, "the address is not https")
  end
  local chosen, missing = downloader()
  if not chosen then
    return nil, failed(release, missing --[[@as string]])
  end
  local stop = watch(path, release.size, on_progress)
  local done, cause = chosen.fetch({
    url = release.url,
    path = path,
    size = release.size,
    limits = M.limits,
  })
  stop()
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > release.size then
    return nil, failed(release, "the server offers a file that is larger than the release's")
  end
  return done, not done and failed(release, cause or "no reason was given") or nil
end

return M
