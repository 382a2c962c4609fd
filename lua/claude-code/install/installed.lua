--- What is known about each installed version, in files beside its executable and beside its folder:
---   VERSION-TARGET/contract      the number of its contract
---   VERSION-TARGET/sha256        the checksum of its executable
---   VERSION-TARGET.unusable      why its executable does not run on this machine
local M = {}

local store = require("claude-code.install.store")

---@param path string
---@return string?
local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read(10000)
  if file then
    file:close()
  end
  return text
end

---@param path string
---@param text string
local function write(path, text)
  local file = io.open(path, "wb")
  if file then
    file:write(text)
    file:close()
  end
end

---@param executable string in the folder that becomes VERSION-TARGET
---@param contract integer
function M.add(executable, contract)
  local folder = vim.fs.dirname(executable)
  write(vim.fs.joinpath(folder, "contract"), tostring(contract))
  local sum = require("claude-code.install.checksum").of(executable)
  write(vim.fs.joinpath(folder, "sha256"), sum or "")
end

--- Whether an executable is as it was installed. One with a changed byte may print its version, and
--- end later.
---@param executable string
---@return boolean
function M.is_intact(executable)
  local sum = read(vim.fs.joinpath(vim.fs.dirname(executable), "sha256")) or ""
  return sum == "" or sum == require("claude-code.install.checksum").of(executable)
end

--- The executable of another version that works with this plugin: the newest of those with the same
--- contract.
---@return string? executable
---@return string? version
function M.compatible()
  local target = require("claude-code.install.target").name()
  local contract = require("claude-code.server.contract")
  local best, version
  for name in vim.fs.dir(store.root()) do
    local candidate = target and name:match("^(.+)%-" .. vim.pesc(target) .. "$")
    local parsed = candidate and vim.version.parse(candidate)
    local number = parsed and read(vim.fs.joinpath(store.root(), name, "contract"))
    local executable = parsed and store.executable(candidate, target)
    if
      tonumber(number) == contract.number
      and candidate ~= contract.version
      and require("claude-code.programs").runs(executable)
      and (not version or vim.version.gt(parsed, version))
    then
      best, version = executable, candidate
    end
  end
  return best, version
end

---@param release claude-code.Release
---@return string path
local function unusable(release)
  return vim.fs.joinpath(store.root(), ("%s-%s.unusable"):format(release.version, release.target))
end

--- Remembers that the executable of a release does not run here: it is not downloaded again until
--- the user asks for it.
---@param release claude-code.Release
---@param message? string why; nil: it does run
function M.set_unusable(release, message)
  if message then
    write(unusable(release), message)
  else
    vim.uv.fs_unlink(unusable(release))
  end
end

---@param release claude-code.Release
---@return string? message why its executable does not run here
function M.unusable(release)
  return read(unusable(release))
end

return M
