--- Downloads by GNU Wget, for machines without curl. It reads the user's ~/.wgetrc and proxy
--- variables. Its own redirects could leave https, so they are followed here, one call each.
local M = {}

local async = require("claude-code.install.async")
local programs = require("claude-code.programs")
local url = require("claude-code.install.url")

local MAX_REDIRECTS = 10

--- Wget's exit codes.
local CAUSES = {
  [3] = "the archive could not be written: is the disk full?",
  [4] = "the server cannot be reached, does not answer, or cut the connection off",
  [5] = "its certificate cannot be verified",
  [124] = "the server is too slow",
}

--- BusyBox' wget lacks the options that are needed here.
---@return boolean available
---@return string? message why not
function M.available()
  local path, missing = programs.on_path("wget")
  if not path then
    return false, missing
  end
  local version = async.system({ path, "--version" }, { cwd = programs.NEUTRAL_FOLDER })
  return version.stdout:find("GNU Wget", 1, true) ~= nil, ("%s is not GNU Wget"):format(path)
end

---@param transfer claude-code.Transfer
---@param address string
---@return string[]
local function command(transfer, address)
  local words = { programs.on_path("wget"), "--server-response", "--max-redirect=0", "--tries=1" }
  local function add(...)
    vim.list_extend(words, { ... })
  end
  add("--connect-timeout=" .. transfer.limits.connect_s)
  add("--read-timeout=" .. transfer.limits.stall_s)
  if url.is_loopback(address) then
    add("--no-proxy")
  end
  add("--output-document=" .. transfer.path, "--", address)
  return words
end

---@param output string
---@return string? address to which the server redirects
local function redirect(output)
  if output:match("HTTP/[%d.]+ 30[12378]") then
    return output:match("\n%s*[Ll]ocation: (%S+)")
  end
end

---@param result { code: integer, stderr: string }
---@return string
local function cause(result)
  local status = result.stderr:match("ERROR (%d+[^\n]*)")
  return CAUSES[result.code]
    or (status and "the server answered " .. status)
    or ("wget ended with code %d"):format(result.code)
end

---@param transfer claude-code.Transfer
---@return boolean? done
---@return string? cause
function M.fetch(transfer)
  local address, started = transfer.url, vim.uv.now()
  for _ = 1, MAX_REDIRECTS do
    local passed_ms = vim.uv.now() - started
    local result = async.system(command(transfer, address), {
      cwd = vim.fs.dirname(transfer.path),
      timeout = math.max(1, transfer.limits.total_s * 1000 - passed_ms),
      env = { LC_ALL = "C" },
    })
    if result.code == 0 then
      return true
    end
    local target = redirect(result.stderr)
    if not target then
      return nil, cause(result)
    elseif not target:match("^https://") then
      return nil, "the server redirects to an address that is not https"
    end
    address = target
  end
  return nil, "the server redirects too often"
end

return M
