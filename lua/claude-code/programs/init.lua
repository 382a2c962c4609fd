--- Absolute paths of the programs that the plugin starts. A project must not supply its own `git`.
local M = {}

local platform = require("claude-code.lib.platform")
local is_windows = platform.is_windows

local REFUSED = "`%s` is not run: only the %s of $PATH leads to it (%s), where a project could put a "
  .. "program of its own"

--- The working folder of programs that need no other. A project's folder may be hostile, and the user may delete it.
M.NEUTRAL_FOLDER = is_windows and vim.env.SystemRoot or "/"

---@return boolean is it an executable file?
function M.runs(path)
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and stat.type == "file" and vim.uv.fs_access(path, "X") == true
end

local SEPARATOR = is_windows and ";" or ":"

local function entries()
  return vim.split(vim.env.PATH or "", SEPARATOR, { plain = true })
end

---@param path string on Windows perhaps without its extension
---@return string? path of the program there
function M.at(path)
  local extensions = { "" }
  if is_windows and not path:find("%.%a+$") then
    extensions = vim.split(vim.env.PATHEXT or ".COM;.EXE;.BAT;.CMD", ";", { plain = true })
  end
  for _, extension in ipairs(extensions) do
    if M.runs(path .. extension) then
      return path .. extension
    end
  end
end

--- Looks a program up in the absolute entries of $PATH. Relative entries depend on the current folder.
---@param name string without a folder
---@return string? path absolute
---@return string? message for the user, if no absolute entry has it
function M.on_path(name)
  local refused
  -- An empty entry means the current folder, which Windows always searches first.
  for _, folder in ipairs(is_windows and vim.list_extend({ "." }, entries()) or entries()) do
    local path = M.at(vim.fs.joinpath(folder == "" and "." or folder, name))
    if path and platform.is_absolute(folder) then
      return path
    elseif path and not refused then
      local entry = folder == "" and "empty entry" or ("relative entry `%s`"):format(folder)
      refused = REFUSED:format(name, entry, vim.fn.fnamemodify(path, ":p"))
    end
  end
  return nil, refused or ("`%s` is not on $PATH"):format(name)
end

--- $PATH for a program that looks up others, such as a script with `#!/usr/bin/env node`.
---@return string? path absolute entries first; nil if $PATH already has this order
function M.absolute_first()
  local first, last = {}, {}
  for _, folder in ipairs(entries()) do
    table.insert(platform.is_absolute(folder) and first or last, folder)
  end
  local path = table.concat(vim.list_extend(first, last), SEPARATOR)
  return path ~= (vim.env.PATH or "") and path or nil
end

function M.is_alive(pid)
  -- On macOS, kill(2) finds a process that has ended while its parent has not waited for it.
  local find = platform.is_mac and vim.uv.os_getpriority or vim.uv.kill
  local _, _, code = find(pid, 0)
  local file = io.open(("/proc/%d/stat"):format(pid))
  local stat = file and file:read(4096) or ""
  if file then
    file:close()
  end
  -- Z: the process has ended, but its parent has not waited for it. In a container it may never do so.
  return code ~= "ESRCH" and not stat:find("^.*%) [ZX]")
end

return M
