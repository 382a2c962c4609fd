--- Fetches a release's archive by curl, which reads the user's ~/.curlrc and proxy variables.
---
--- It is written to FILE.PID.part. To other Neovims that file is the sign that this one downloads; there is
--- no lock that a killed Neovim could leave behind.
local M = {
  --- Seconds: until a connection is made; without data, until a server counts as hanging; in all.
  limits = { connect_s = 20, stall_s = 30, total_s = 30 * 60 },
}

local async = require("claude-code.install.async")
local programs = require("claude-code.programs")
local store = require("claude-code.install.store")

local POLL_MS = 250
--- A file that has not grown for so long is abandoned: a download gives up earlier.
local STALE_S = 60
--- Percent between two lines. Without a UI, lines would only fill a log.
local STEP, STEP_HEADLESS = 1, 25

local LOOPBACK = { "127%.0%.0%.1", "localhost", "%[::1%]" }

--- curl's exit codes whose cause its own message leaves unclear.
local CAUSES = {
  [1] = "the server redirects to an address that is not https",
  [18] = "the connection was cut off",
  [23] = "the archive could not be written: is the disk full?",
  [28] = "the server does not answer, or too slowly",
  [60] = "the server's certificate is not trusted here; if a proxy of your company replaces it, give "
    .. "curl the company's certificate ($CURL_CA_BUNDLE, or cacert in ~/.curlrc)",
  [63] = "the server offers a file that is larger than the release's",
}

---@param file string name of the archive
---@return string? path of an empty file
---@return string? message
function M.new_file(file)
  local path = vim.fs.joinpath(store.download(), ("%s.%d.part"):format(file, vim.uv.os_getpid()))
  local handle, failure = vim.uv.fs_open(path, "w", tonumber("644", 8))
  if not handle then
    local text = "cannot write to %s (%s); make the folder writable, or set binary.path"
    return nil, text:format(path, failure)
  end
  vim.uv.fs_close(handle)
  return path
end

--- Whether another Neovim downloads the same archive, so that waiting for it is cheaper. Of two that
--- begin at the same moment the one with the lower process id goes on.
---@param file string name of the archive
---@return boolean
function M.is_elsewhere(file)
  local pattern, own = "^" .. vim.pesc(file) .. "%.(%d+)%.part$", vim.uv.os_getpid()
  for name in vim.fs.dir(store.download()) do
    local pid = tonumber(name:match(pattern))
    local stat = pid and vim.uv.fs_stat(vim.fs.joinpath(store.download(), name))
    if stat and pid ~= own and require("claude-code.programs.process").is_alive(pid) then
      local is_fresh = os.time() - stat.mtime.sec < STALE_S
      if is_fresh and (stat.size > 0 or pid < own) then
        return true
      end
    end
  end
  return false
end

--- Whether `url` leads to this machine by unencrypted HTTP. A name before an `@` is no host.
---@param url string
---@return boolean
local function is_loopback(url)
  return vim.iter(LOOPBACK):any(function(host)
    local rest = url:match("^http://" .. host .. "(.*)$")
    return rest ~= nil and (rest:match("^:%d+$") or rest:match("^:%d+/") or rest:match("^/")) ~= nil
  end)
end

---@param curl string its path
---@param release claude-code.Release
---@param path string where the archive goes
---@return string[]
local function command(curl, release, path)
  local words = { curl, "--fail", "--location", "--silent", "--show-error" }
  local function add(...)
    vim.list_extend(words, { ... })
  end
  add("--proto-redir", "=https", "--max-redirs", "10")
  if is_loopback(release.url) then
    add("--proto", "=http,https", "--noproxy", "127.0.0.1,localhost,::1")
  else
    add("--proto", "=https", "--tlsv1.2")
  end
  add("--connect-timeout", tostring(M.limits.connect_s))
  -- Less than 1 KiB a second for so long is a server that hangs.
  add("--speed-limit", "1024", "--speed-time", tostring(M.limits.stall_s))
  add("--max-time", tostring(M.limits.total_s), "--max-filesize", tostring(release.size))
  add("--output", path, "--url", release.url)
  return words
end

---@param result { code: integer, stderr: string } of curl
---@return string
local function cause_of(result)
  -- The cause comes first. Behind some causes curl explains itself in further lines.
  local line = ("\n" .. result.stderr):match("\ncurl: %(%d+%) ([^\n]+)")
  local message = line or vim.trim(result.stderr):match("[^\n]+$") or ""
  local cause = CAUSES[result.code]
  return cause and ("%s (curl: %s)"):format(cause, message) or message
end

--- Shows how far the download is, one short line at a time.
---@param total integer bytes
---@return fun(bytes: integer)
local function progress(total)
  local shown = -1
  return function(bytes)
    local percent = math.min(100, math.floor(100 * bytes / total))
    local step = #vim.api.nvim_list_uis() == 0 and STEP_HEADLESS or STEP
    if percent - shown >= step then
      shown = percent - percent % step
      local text = "%d %% of %.0f MB downloaded"
      require("claude-code.messages.notify").progress(text:format(percent, total / 1e6))
    end
  end
end

--- Follows a file while it grows. A server that sends more than it should must not fill the disk: of an
--- answer without a length, curl before 8.4 takes all.
---@param path string
---@param most integer bytes
---@return fun() stop
local function watch(path, most)
  local show = progress(most)
  return require("claude-code.lib.timer").every(POLL_MS, function()
    local stat = vim.uv.fs_stat(path)
    if stat and stat.size > most then
      async.kill_programs()
    elseif stat then
      show(stat.size)
    end
  end)
end

---@param release claude-code.Release
---@param cause string
---@return string
local function failed(release, cause)
  local text = "cannot download the executable: %s; :Claude install tries again, "
    .. "`:Claude install PATH` installs a file that you downloaded yourself (%s)"
  return text:format(cause, release.url)
end

---@param release claude-code.Release
---@param path string where the archive goes
---@return boolean? done
---@return string? message
function M.fetch(release, path)
  -- Encrypted, or not leaving this machine.
  if not release.url:match("^https://[^/]") and not is_loopback(release.url) then
    return nil, failed(release, "the address is not https")
  end
  local curl, missing = programs.on_path("curl")
  if not curl then
    return nil, failed(release, missing .. ", and nothing else downloads it: install curl")
  end
  local stop = watch(path, release.size)
  local result = async.system(command(curl, release, path), vim.fs.dirname(path))
  stop()
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > release.size then
    return nil, failed(release, CAUSES[63])
  elseif result.code ~= 0 then
    return nil, failed(release, cause_of(result))
  end
  return true
end

return M
