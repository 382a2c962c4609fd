--- Fetches, checks and unpacks a release's archive, in the task of install/init.lua. Raises claude-code.InstallError.
--- curl reads the user's ~/.curlrc and proxy variables. A program of the system computes SHA-256: Neovim's sha256()
--- would block the editor (and accepts no binary data in 0.10).
local M = {
  --- In seconds: for a connection; for a server that sends no data; for the whole download.
  limits = { connect_s = 20, stall_s = 30, total_s = 30 * 60 },
}

local executable = require("claude-code.install.executable")
local fail = require("claude-code.install.store").fail
local notify = require("claude-code.messages.notify")
local programs = require("claude-code.programs")
local task = require("claude-code.lib.task")

local POLL_MS = 250
local STEP_PERCENT = 10
local HASH = "%f[%x]" .. ("%x"):rep(64) .. "%f[%X]"

local FAILED = "cannot download the executable: %s; :Claude install tries again, "
  .. "`:Claude install PATH` installs a file that you downloaded yourself (%s)"
local WRONG = "this archive does not belong to version %s of the plugin, and was not used: it has %s; "
  .. "download %s again"

--- Causes that curl's own message leaves unclear, by its exit code.
local CAUSES = {
  [1] = "the server redirects to an address that is not https",
  [23] = "the archive could not be written: is the disk full?",
  [60] = "the server's certificate is not trusted here; if your company's proxy replaces it, give curl the "
    .. "company's certificate ($CURL_CA_BUNDLE, or cacert in ~/.curlrc)",
}

---@param on_start? fun(program: vim.SystemObj)
local function run(words, on_start)
  return task.await(function(done)
    local program = executable.run(words, {}, done)
    if program and on_start then
      on_start(program)
    end
  end)
end

local function command(curl, release, path)
  local is_local = release.url:find("^http://127%.0%.0%.1:?%d*/") ~= nil
  local words = {
    { curl, "--fail", "--location", "--silent", "--show-error", "--output", path },
    { "--proto-redir", "=https", "--max-redirs", 10 },
    -- Unencrypted data may not leave this machine.
    is_local and { "--proto", "=http", "--noproxy", "127.0.0.1" }
      or { "--proto", "=https", "--tlsv1.2" },
    { "--connect-timeout", M.limits.connect_s, "--max-time", M.limits.total_s },
    -- A server that hangs sends less than 1 KiB/s.
    { "--speed-limit", 1024, "--speed-time", M.limits.stall_s },
    { "--max-filesize", release.size, "--url", release.url },
  }
  return vim.iter(words):flatten():map(tostring):totable()
end

--- Shows the progress of a download, and kills a program that writes too much: curl before 8.4 does not limit an answer
--- without a length.
---@param most integer bytes
---@return fun() stop
local function watch(path, most, program)
  local shown = 0
  return require("claude-code.lib.timer").every(POLL_MS, function()
    local stat = vim.uv.fs_stat(path)
    local percent = stat and 100 * stat.size / most or 0
    if percent > 100 then
      program:kill("sigkill")
    elseif percent >= shown + STEP_PERCENT then
      shown = percent - percent % STEP_PERCENT
      notify.progress(("%d %% of %.0f MB downloaded"):format(shown, most / 1e6))
    end
  end)
end

function M.fetch(release, path)
  local curl, missing = programs.on_path("curl")
  if not curl then
    return fail(FAILED, missing .. ", which the download needs: install curl", release.url)
  end
  local text = "downloading the executable (%.0f MB), once for this version"
  notify.info(text:format(release.size / 1e6))
  local stop = function() end
  local leaving = require("claude-code.lib.autocommands").new("download")
  local result = run(command(curl, release, path), function(program)
    stop = watch(path, release.size, program)
    leaving:on("VimLeavePre", function()
      program:kill("sigkill")
    end)
  end)
  stop()
  leaving:stop()
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > release.size then
    fail(FAILED, "the server offers a file that is larger than the release's", release.url)
  elseif result.code ~= 0 then
    local message = result.stderr:match("curl: [^\n]+") or vim.trim(result.stderr)
    local cause = CAUSES[result.code]
    fail(FAILED, cause and ("%s (%s)"):format(cause, message) or message, release.url)
  end
end

---@return string sha256 in lowercase hexadecimal
local function checksum(path)
  local reasons = {}
  for _, words in ipairs({
    { "sha256sum", path },
    { "shasum", "-a", "256", path },
    { "certutil", "-hashfile", path, "SHA256" },
  }) do
    local program, reason = programs.on_path(words[1])
    if program then
      local result = run({ program, unpack(words, 2) })
      local hash = result.code == 0 and result.stdout:match(HASH)
      return hash and hash:lower()
        or fail("`%s` failed on %s: %s", program, path, vim.trim(result.stderr))
    end
    table.insert(reasons, reason)
  end
  local text = "the archive cannot be checked: sha256sum, shasum and certutil are missing (%s); "
    .. "install one of them, then :Claude install"
  return fail(text, table.concat(reasons, "; "))
end

function M.check_size(release, archive)
  local stat = vim.uv.fs_stat(archive)
  if not stat or stat.type ~= "file" then
    fail(stat and "%s is not a file" or "the archive %s does not exist", archive)
  elseif stat.size ~= release.size then
    local found = ("%d bytes, not %d"):format(stat.size, release.size)
    fail(WRONG, release.version, found, release.url)
  end
end

function M.verify(release, archive)
  M.check_size(release, archive)
  local sum = checksum(archive)
  if sum ~= release.sha256 then
    local found = ("the SHA-256 %s, not %s"):format(sum, release.sha256)
    fail(WRONG, release.version, found, release.url)
  end
end

--- A power cut after the rename could otherwise leave an executable of zeros.
local function flush(path)
  local file = vim.uv.fs_open(path, "r+", 0)
  if file then
    task.await(function(done)
      vim.uv.fs_fsync(file, vim.schedule_wrap(done))
    end)
    vim.uv.fs_close(file)
  end
end

--- Unpacks only the executable of a verified archive.
---@param folder string empty
---@return string path of the executable, below the folder
function M.unpack(archive, release, folder)
  local program, missing = programs.on_path("tar")
  if require("claude-code.lib.platform").is_windows then
    -- Another tar may take `C:` for a host.
    program = vim.fs.joinpath(vim.env.SystemRoot, "System32", "tar.exe")
  end
  if not program then
    return fail("cannot unpack %s: %s; install it, then run :Claude install", archive, missing)
  end
  local entry = release.file:gsub("%.tar%.gz$", "") .. "/" .. executable.NAME
  -- -o: root would otherwise set the owner that the archive names.
  local result = run({ program, "-x", "-z", "-o", "-f", archive, "-C", folder, entry })
  if result.code ~= 0 then
    local text = "cannot unpack %s into %s: %s; free some space there, or fix the cause, then run "
      .. ":Claude install"
    fail(text, archive, folder, vim.trim(result.stderr):match("^[^\n]*"))
  end
  local unpacked = vim.fs.joinpath(folder, entry)
  local stat = vim.uv.fs_lstat(unpacked)
  if not stat or stat.type ~= "file" or stat.nlink > 1 then
    fail("%s was not used: its executable is not a file", archive)
  end
  -- tar keeps the setuid bit when root runs it.
  vim.uv.fs_chmod(unpacked, tonumber("755", 8))
  flush(unpacked)
  return unpacked
end

return M
