--- Downloads by curl. It reads the user's ~/.curlrc and proxy variables.
local M = {}

local async = require("claude-code.install.async")
local programs = require("claude-code.programs")
local url = require("claude-code.install.url")

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

---@return boolean available
---@return string? message why not
function M.available()
  local path, message = programs.on_path("curl")
  return path ~= nil, message
end

---@param transfer claude-code.Transfer
---@return string[]
local function command(transfer)
  local limits = transfer.limits
  local words = { programs.on_path("curl"), "--fail", "--location", "--silent", "--show-error" }
  local function add(...)
    vim.list_extend(words, { ... })
  end
  add("--proto-redir", "=https", "--max-redirs", "10")
  if url.is_loopback(transfer.url) then
    add("--proto", "=http,https", "--noproxy", "127.0.0.1,localhost,::1")
  else
    add("--proto", "=https", "--tlsv1.2")
  end
  add("--connect-timeout", tostring(limits.connect_s))
  -- Less than 1 KiB a second for so long is a server that hangs.
  add("--speed-limit", "1024", "--speed-time", tostring(limits.stall_s))
  add("--max-time", tostring(limits.total_s), "--max-filesize", tostring(transfer.size))
  add("--output", transfer.path, "--url", transfer.url)
  return words
end

---@param transfer claude-code.Transfer
---@return boolean? done
---@return string? cause
function M.fetch(transfer)
  local result = async.system(command(transfer), { cwd = vim.fs.dirname(transfer.path) })
  if result.code == 0 then
    return true
  end
  -- The cause comes first. Behind some causes curl explains itself in further lines.
  local cause_line = ("\n" .. result.stderr):match("\ncurl: %(%d+%) ([^\n]+)")
  local message = cause_line or vim.trim(result.stderr):match("[^\n]+$") or ""
  local cause = CAUSES[result.code]
  return nil, cause and ("%s (curl: %s)"):format(cause, message) or message
end

return M
