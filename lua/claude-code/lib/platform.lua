--- The system that Neovim runs on, and its rules for paths. Nothing else asks which system it is, so tests on Linux can
--- set `is_windows`.
local M = {
  is_windows = vim.fn.has("win32") == 1,
  is_mac = vim.fn.has("mac") == 1,
  uname = vim.uv.os_uname,
}

--- Ends the file name of a program.
M.EXE = M.is_windows and ".exe" or ""

---@return boolean is_absolute false for a relative name and for a URL such as `oil:///x`
function M.is_absolute(name)
  if M.is_windows then
    return name:find("^%a:[/\\]") ~= nil or name:find("^[/\\][/\\]") ~= nil
  end
  return name:find("^/") ~= nil
end

--- Gives a path its one spelling: absolute, with `/` and a drive letter in upper case, without `.`, `..` or doubled
--- slashes. `~` and `$VAR` may be file names.
function M.normal(path)
  local full = M.is_absolute(path) and path or ((vim.uv.cwd() or "") .. "/" .. path)
  if not M.is_windows and not full:find("/%.?%.?/") and not full:find("/%.?%.?$") then
    return full
  end
  local plain = vim.fs.normalize(full, { expand_env = false, win = M.is_windows })
  -- TODO(0.10): vim.fs.normalize() leaves the drive letter as it is.
  return M.is_windows and (plain:gsub("^%l:", string.upper)) or plain
end

return M
