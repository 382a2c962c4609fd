--- A release's archive: checked against the size and the checksum that this version of the plugin pins, and
--- unpacked. SHA-256 comes from a program of the system: Neovim's own sha256() would block the editor
--- (and takes no binary data in 0.10). What waits runs in the coroutine of install/init.lua.
local M = {}

local executable = require("claude-code.install.executable")
local programs = require("claude-code.programs")

---@param words string[]
---@return { code: integer, stdout: string, stderr: string }
local function run(words)
  return coroutine.yield(function(done)
    executable.run(words, {}, done)
  end)
end

local HASH = "%f[%x]" .. ("%x"):rep(64) .. "%f[%X]"

---@param path string absolute
---@return string? sha256 in lower-case hexadecimal
---@return string? message
local function checksum(path)
  local reasons = {}
  for _, words in ipairs({
    { "sha256sum", path },
    { "shasum", "-a", "256", path },
    { "certutil", "-hashfile", path, "SHA256" },
  }) do
    local program, reason = programs.on_path(words[1])
    if program then
      words[1] = program
      local result = run(words)
      local hash = result.code == 0 and result.stdout:match(HASH)
      if hash then
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

---@param release claude-code.Release
---@param found string
local function wrong(release, found)
  local text = "this is not the archive that belongs to version %s of the plugin, and was not used: it has "
    .. "%s; download %s again"
  return text:format(release.version, found, release.url)
end

--- Is it a file of the release's size?
---@param release claude-code.Release
---@param archive string
---@return boolean? fits
---@return string? message
function M.check_size(release, archive)
  local stat = vim.uv.fs_stat(archive)
  if not stat or stat.type ~= "file" then
    local text = stat and "%s is not a file" or "the archive %s does not exist"
    return nil, text:format(archive)
  elseif stat.size ~= release.size then
    return nil, wrong(release, ("%d bytes, not %d"):format(stat.size, release.size))
  end
  return true
end

--- Is it the release's?
---@param release claude-code.Release
---@param archive string
---@return boolean? verified
---@return string? message
function M.verify(release, archive)
  local fits, message = M.check_size(release, archive)
  if not fits then
    return nil, message
  end
  local sum, failure = checksum(archive)
  if sum == release.sha256 then
    return true
  end
  return nil, failure or wrong(release, ("the SHA-256 %s, not %s"):format(sum, release.sha256))
end

--- Windows' own tar, since another one on the path may take `C:` for a host.
---@return string? path
---@return string? message
local function tar()
  if vim.fn.has("win32") == 1 then
    return vim.fs.joinpath(vim.env.SystemRoot, "System32", "tar.exe")
  end
  return programs.on_path("tar")
end

--- Until the data are on the disk, a power cut could leave an executable of zeros behind the rename.
local function flush(path)
  local file = vim.uv.fs_open(path, "r+", 0)
  if file then
    coroutine.yield(function(done)
      vim.uv.fs_fsync(file, done)
    end)
    vim.uv.fs_close(file)
  end
end

--- Unpacks the executable of a verified archive alone.
---@param archive string
---@param release claude-code.Release
---@param folder string empty
---@return string? path of the executable, below the folder
---@return string? message
function M.unpack(archive, release, folder)
  local program, missing = tar()
  if not program then
    return nil,
      ("cannot unpack %s: %s; install it, then run :Claude install"):format(archive, missing)
  end
  local entry = release.file:gsub("%.tar%.gz$", "") .. "/" .. executable.NAME
  -- -o: not with the owner that the archive names, when root unpacks.
  local result = run({ program, "-x", "-z", "-o", "-f", archive, "-C", folder, entry })
  if result.code ~= 0 then
    local text = "cannot unpack %s into %s: %s; free some space there, or fix the cause, then run "
      .. ":Claude install"
    return nil, text:format(archive, folder, vim.trim(result.stderr):match("^[^\n]*"))
  end
  local unpacked = vim.fs.joinpath(folder, entry)
  local stat = vim.uv.fs_lstat(unpacked)
  if not stat or stat.type ~= "file" or stat.nlink > 1 then
    return nil, ("%s was not used: its executable is not a file"):format(archive)
  end
  -- As root, tar gives the file its setuid bit, too.
  vim.uv.fs_chmod(unpacked, tonumber("755", 8))
  flush(unpacked)
  return unpacked
end

return M
