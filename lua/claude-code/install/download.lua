--- Fetches a release's archive with what the machine has for it: curl, GNU Wget or PowerShell.
local M = {
  --- Seconds: until a connection is made; without data, until a server counts as hanging; in all.
  limits = { connect_s = 20, stall_s = 30, total_s = 30 * 60 },
  --- Tried in this order.
  ---@type string[]
  downloaders = { "curl", "wget", "powershell" },
}

local POLL_MS = 250

---@class claude-code.Transfer
---@field url string
---@field path string the part
---@field size integer bytes that are expected
---@field resume_at integer bytes that are there already
---@field limits { connect_s: integer, stall_s: integer, total_s: integer }

---@class claude-code.Downloader
---@field available fun(): boolean
---@field fetch fun(transfer: claude-code.Transfer): boolean?, string?

---@return claude-code.Downloader?
local function downloader()
  for _, name in ipairs(M.downloaders) do
    ---@type claude-code.Downloader
    local candidate = require("claude-code.install.downloader." .. name)
    if candidate.available() then
      return candidate
    end
  end
end

---@param release claude-code.Release
---@param cause string
---@return string
local function failed(release, cause)
  local text = "cannot download %s: %s. `:ClaudeCodeInstall` tries again; "
    .. "`:ClaudeCodeInstall PATH` installs %s that you fetched in another way"
  return text:format(release.url, cause, release.file)
end

--- Reports the part's size while it grows.
---@param path string
---@param on_progress fun(bytes: integer)
---@return fun() stop
local function watch(path, on_progress)
  local timer = assert(vim.uv.new_timer())
  timer:start(
    POLL_MS,
    POLL_MS,
    vim.schedule_wrap(function()
      local stat = vim.uv.fs_stat(path)
      if stat and timer:is_active() then
        on_progress(stat.size)
      end
    end)
  )
  return function()
    timer:stop()
    timer:close()
  end
end

---@param release claude-code.Release
---@param path string the part; its bytes are kept
---@param resume_at integer how many those are
---@param on_progress fun(bytes: integer) called a few times a second with the part's size
---@return boolean? done
---@return string? message
function M.fetch(release, path, resume_at, on_progress)
  if not require("claude-code.install.url").is_safe(release.url) then
    return nil, failed(release, "the address is not https")
  elseif resume_at == release.size then
    return true
  end
  local chosen = downloader()
  if not chosen then
    return nil, failed(release, "this machine has neither curl nor GNU Wget; install one")
  end
  local stop = watch(path, on_progress)
  local done, cause = chosen.fetch({
    url = release.url,
    path = path,
    size = release.size,
    resume_at = resume_at,
    limits = M.limits,
  })
  stop()
  return done, not done and failed(release, cause or "no reason was given") or nil
end

return M
