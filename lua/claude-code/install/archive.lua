--- A release's archive: checked against the size and the checksum that this version of the plugin pins, and
--- unpacked. SHA-256 comes from a program of the system: Neovim's own sha256() would block the editor
--- (and takes no binary data in 0.10).
local M = {}

local async = require("claude-code.install.async")

local FILE = {}
---@type (string|table)[][] FILE stands for the path
local CHECKSUM_COMMANDS = {
  { "sha256sum", FILE },
  { "shasum", "-a", "256", FILE },
  { "certutil", "-hashfile", FILE, "SHA256" },
}

local HASH = "%f[%x]" .. ("%x"):rep(64) .. "%f[%X]"

---@param path string absolute
---@return string? sha256 in lower-case hexadecimal
---@return string? message
function M.checksum(path)
  local reasons = {}
  for _, command in ipairs(CHECKSUM_COMMANDS) do
    local program, reason = require("claude-code.programs").on_path(command[1])
    if program then
      local words = vim.tbl_map(function(word)
        return word == FILE and path or word
      end, command)
      words[1] = program
      local result = async.system(words, vim.fs.dirname(path))
      -- The path is printed too.
      local output = result.stdout:gsub(vim.pesc(path), "")
      local hash = output:match(HASH)
      if result.code == 0 and hash then
        return hash:lower()
      end
      return nil, ("`%s` failed on %s: %s"):format(program, path, vim.trim(result.stderr))
    end
    table.insert(reasons, reason)
  end
  local text = "the archive cannot be checked: sha256sum, shasum and certutil are missing (%s); "
    .. "install one of them, then :Claude install"
  return nil, text:format(table.concat(reasons, "; "))
end

--- Is it the release's?
---@param release claude-code.Release
---@param archive string
---@param original? string the path that a message names, where the archive is a copy
---@return boolean? verified
---@return string? message
function M.verify(release, archive, original)
  local stat = vim.uv.fs_stat(archive)
  if not stat or stat.type ~= "file" then
    local text = stat and "%s is not a file" or "the archive %s does not exist"
    return nil, text:format(archive)
  end
  local sum, message = M.checksum(archive)
  if not sum then
    return nil, message
  elseif sum == release.sha256 and stat.size == release.size then
    return true
  end
  archive = original or archive
  local other = require("claude-code.install.release").target_with(sum)
  if other then
    local text = "%s is for %s; this machine needs %s (%s)"
    return nil, text:format(archive, other, release.target, release.file)
  end
  local text = "%s is not the archive that belongs to version %s of the plugin and was not used; "
    .. "download %s again (expected %d bytes, SHA-256 %s; found %d bytes, SHA-256 %s)"
  local is, should = { stat.size, sum }, { release.size, release.sha256 }
  return nil, text:format(archive, release.version, release.url, should[1], should[2], is[1], is[2])
end

--- Windows' own tar, since another one on the path may take `C:` for a host.
---@return string? path
---@return string? message
local function tar()
  if vim.fn.has("win32") == 1 then
    return vim.fs.joinpath(vim.env.SystemRoot, "System32", "tar.exe")
  end
  return require("claude-code.programs").on_path("tar")
end

--- Until the data are on the disk, a power cut could leave an executable of zeros behind the rename.
---@param path string
local function flush(path)
  local file = vim.uv.fs_open(path, "r+", 0)
  if file then
    async.await(function(done)
      vim.uv.fs_fsync(file, done)
    end)
    vim.uv.fs_close(file)
  end
end

--- Unpacks the executable of a verified archive alone, to FOLDER/claude-code-nvim.
---@param archive string
---@param release claude-code.Release
---@param folder string empty
---@return string? executable
---@return string? message
function M.unpack(archive, release, folder)
  local name = require("claude-code.install.executable").NAME
  local top = release.file:gsub("%.tar%.gz$", "")
  -- -o: not with the owner that the archive names, when root unpacks.
  local program, missing = tar()
  if not program then
    return nil,
      ("cannot unpack %s: %s; install it, then run :Claude install"):format(archive, missing)
  end
  local command = { program, "-x", "-z", "-o", "-f", archive, "-C", folder, top .. "/" .. name }
  local result = async.system(command, folder)
  if result.code ~= 0 then
    local text = "cannot unpack %s into %s: %s; free some space there, or fix the cause, then run "
      .. ":Claude install"
    return nil, text:format(archive, folder, vim.trim(result.stderr):match("^[^\n]*"))
  end
  local unpacked = vim.fs.joinpath(folder, top, name)
  local stat = vim.uv.fs_lstat(unpacked)
  if not stat or stat.type ~= "file" or stat.nlink > 1 then
    return nil, ("%s was not used: its executable is not a file"):format(archive)
  end
  -- As root, tar gives the file its setuid bit, too.
  vim.uv.fs_chmod(unpacked, tonumber("755", 8))
  local executable = vim.fs.joinpath(folder, name)
  local moved, failure = vim.uv.fs_rename(unpacked, executable)
  if not moved then
    return nil, ("cannot move the executable out of %s (%s)"):format(folder, failure)
  end
  vim.uv.fs_rmdir(vim.fs.joinpath(folder, top))
  flush(executable)
  return executable
end

return M
