--- Downloads by Windows PowerShell, for the rare Windows without curl.exe. The system's proxy is
--- used. Its own redirects could leave https, so the script follows them itself.
local M = {}

local task = require("claude-code.install.async")

--- Gets what it needs by the environment, so that nothing has to be quoted.
local SCRIPT = [[
$ErrorActionPreference = 'Stop'
try {
  [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
  $address = $env:CLAUDE_CODE_NVIM_URL
  $from = [long]$env:CLAUDE_CODE_NVIM_RESUME_AT
  for ($i = 0; $i -lt 10; $i++) {
    $request = [Net.HttpWebRequest]::Create($address)
    $request.AllowAutoRedirect = $false
    $request.Timeout = 1000 * [int]$env:CLAUDE_CODE_NVIM_CONNECT_S
    $request.ReadWriteTimeout = 1000 * [int]$env:CLAUDE_CODE_NVIM_STALL_S
    if ($from -gt 0) { $request.AddRange($from) }
    $response = $request.GetResponse()
    $status = [int]$response.StatusCode
    if ($status -lt 300) { break }
    $address = $response.Headers['Location']
    $response.Close()
    if (-not $address.StartsWith('https://')) {
      throw 'it leads to an address that is not https, which is not followed'
    }
  }
  if ($status -ge 300) { throw 'it leads from one address to the next without an end' }
  $mode = if ($status -eq 206) { [IO.FileMode]::Append } else { [IO.FileMode]::Create }
  $file = [IO.File]::Open($env:CLAUDE_CODE_NVIM_PART, $mode)
  try { $response.GetResponseStream().CopyTo($file) } finally { $file.Close() }
} catch {
  [Console]::Error.WriteLine($_.Exception.Message)
  exit 1
}
]]

---@return string? program
local function program()
  return vim.iter({ "powershell", "pwsh" }):find(function(name)
    return vim.fn.executable(name) == 1
  end)
end

---@return boolean
function M.available()
  return program() ~= nil
end

---@param transfer claude-code.Transfer
---@return boolean? done
---@return string? cause
function M.fetch(transfer)
  local limits = transfer.limits
  local words = { program(), "-NoProfile", "-NonInteractive", "-Command", SCRIPT }
  local result = task.system(words, {
    cwd = vim.fs.dirname(transfer.path),
    timeout = limits.total_s * 1000,
    env = {
      CLAUDE_CODE_NVIM_URL = transfer.url,
      CLAUDE_CODE_NVIM_PART = transfer.path,
      CLAUDE_CODE_NVIM_RESUME_AT = tostring(transfer.resume_at),
      CLAUDE_CODE_NVIM_CONNECT_S = tostring(limits.connect_s),
      CLAUDE_CODE_NVIM_STALL_S = tostring(limits.stall_s),
    },
  })
  if result.code == 0 then
    return true
  end
  return nil, result.code == 124 and "the server is too slow" or vim.trim(result.stderr)
end

return M
