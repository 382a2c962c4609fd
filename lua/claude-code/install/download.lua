--- Fetches a release's archive by curl, which reads the user's ~/.curlrc and proxy variables.
local M = {
  --- Seconds: until a connection is made; without data, until a server counts as hanging; in all.
  limits = { connect_s = 20, stall_s = 30, total_s = 30 * 60 },
}

local notify = require("claude-code.messages.notify")

local POLL_MS = 250
--- Percent between two messages.
local STEP = 10

--- curl's exit codes whose cause its own message leaves unclear.
local CAUSES = {
  [1] = "the server redirects to an address that is not https",
  [23] = "the archive could not be written: is the disk full?",
  [60] = "the server's certificate is not trusted here; if a proxy of your company replaces it, give "
    .. "curl the company's certificate ($CURL_CA_BUNDLE, or cacert in ~/.curlrc)",
}

---@param curl string its path
---@param release claude-code.Release
---@param path string where the archive goes
local function command(curl, release, path)
  local words = { curl, "--fail", "--location", "--silent", "--show-error" }
  local function add(...)
    vim.list_extend(words, { ... })
  end
  add("--proto-redir", "=https", "--max-redirs", "10")
  -- Encrypted, or not leaving this machine.
  if release.url:match("^http://127%.0%.0%.1:?%d*/") then
    add("--proto", "=http", "--noproxy", "127.0.0.1")
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

--- Follows a file while it grows: shows how much there is, and ends a program that writes too much. Of an
--- answer without a length, curl before 8.4 takes all.
---@param most integer bytes
---@param program vim.SystemObj
---@return fun() stop
local function watch(path, most, program)
  local shown = 0
  return require("claude-code.lib.timer").every(POLL_MS, function()
    local stat = vim.uv.fs_stat(path)
    local percent = stat and 100 * stat.size / most or 0
    if percent > 100 then
      program:kill("sigkill")
    elseif percent >= shown + STEP then
      shown = percent - percent % STEP
      notify.progress(("%d %% of %.0f MB downloaded"):format(shown, most / 1e6))
    end
  end)
end

---@param release claude-code.Release
---@param cause string
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
  local curl, missing = require("claude-code.programs").on_path("curl")
  if not curl then
    return nil, failed(release, missing .. ", and nothing else downloads it: install curl")
  end
  local text = "downloading the executable (%.0f MB), once for this version"
  notify.info(text:format(release.size / 1e6))
  local stop = function() end
  local leaving = require("claude-code.lib.autocommands").new("download")
  local result = coroutine.yield(function(done)
    local words = command(curl, release, path)
    local program = require("claude-code.install.executable").run(words, {}, done)
    if program then
      stop = watch(path, release.size, program)
      leaving:on("VimLeavePre", function()
        program:kill("sigkill")
      end)
    end
  end)
  stop()
  leaving:stop()
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > release.size then
    return nil, failed(release, "the server offers a file that is larger than the release's")
  elseif result.code ~= 0 then
    local message = result.stderr:match("curl: [^\n]+") or vim.trim(result.stderr)
    local cause = CAUSES[result.code]
    return nil, failed(release, cause and ("%s (%s)"):format(cause, message) or message)
  end
  return true
end

return M
