--- The paths in a request's parameters. The dispatcher checks them before any method runs, whatever
--- the method is: a method gets only paths in normal form, of a bounded length, and of no special file.
local path = require("claude-code.editor.documents.path")

---PATH_MAX and NAME_MAX of Linux and macOS; Windows has the same NAME_MAX, in UTF-16 units.
local MAX_BYTES = vim.fn.has("win32") == 1 and 32767 or 4096
local MAX_BYTES_OF_NAME = 255
---To look for a file takes some 0.2 ms, and more where its path is long.
local MAX_FILES, MAX_BYTES_OF_FILES = 50, 65536

---Parameters that are a path.
local PATHS = { "path", "old_path", "new_path" }

local M = {}

local function problem_with(name)
  if name:find("\0", 1, true) then
    return "The file path holds a NUL byte."
  end
  if #name > MAX_BYTES then
    local text = "The file path is too long: it has %d bytes, at most %d are possible."
    return text:format(#name, MAX_BYTES)
  end
  for part in name:gmatch("[^/]+") do
    if #part > MAX_BYTES_OF_NAME then
      local text = "A name in the file path is too long: it has %d bytes, at most %d are possible."
      return text:format(#part, MAX_BYTES_OF_NAME)
    end
  end
end

---Neither a file nor a folder? Those of /proc and /sys say that they are, but some of them never end,
---and some make the reader wait.
local function is_special(name)
  local stat = vim.uv.fs_stat(name)
  if not stat or stat.type == "directory" then
    return false
  end
  local real = path.real(name)
  return stat.type ~= "file" or vim.startswith(real, "/proc/") or vim.startswith(real, "/sys/")
end

---@return string? name in normal form
---@return claude-code.Failure?
local function checked(given)
  local name = #given <= MAX_BYTES and path.normal(given) or given
  local problem = problem_with(name)
  if problem then
    return nil, problem
  elseif is_special(name) then
    return nil, given .. " is not a regular file"
  end
  return name
end

---By the buffer that shows it, whatever its name is: that buffer's text is what a method would send.
local function is_private(name)
  local privacy = require("claude-code.editor.privacy")
  local buf = path.buffer(name)
  return privacy.is_private(name) or (buf ~= nil and privacy.hides(buf))
end

---As `checked`, of a path that must not be a private file's.
---@param private boolean it may be one all the same
---@param message? string the refusal, where it does not name the file
local function checked_public(given, private, message)
  local name, failure = checked(given)
  if name and not private and is_private(name) then
    message = message or require("claude-code.editor.privacy").refusal(given)
    return nil, { code = "private", message = message }
  end
  return name, failure
end

---@param candidates string[] paths that one file may have; relative ones lie in a workspace folder
---@return string[]? names in normal form, without those of private files
local function checked_candidates(candidates, folders)
  local names = {}
  for _, candidate in ipairs(candidates) do
    for _, folder in ipairs(path.is_absolute(candidate) and { false } or folders) do
      local name, failure = checked(folder and folder .. "/" .. candidate or candidate)
      if not name then
        return nil, failure
      elseif not is_private(name) then
        names[#names + 1] = name
      end
    end
  end
  return names
end

---@param files string[][]
local function checked_files(files)
  local bytes = #table.concat(vim.iter(files):flatten():totable())
  if #files > MAX_FILES or bytes > MAX_BYTES_OF_FILES then
    local text = "These are too many files for one call: %d, of which at most %d are possible (and "
      .. "%d bytes in all their paths). Name fewer, or none for all files with problems."
    return nil, text:format(#files, MAX_FILES, MAX_BYTES_OF_FILES)
  end
  local all, folders = {}, require("claude-code.lib.workspace").folders()
  for _, candidates in ipairs(files) do
    local names, failure = checked_candidates(candidates, folders)
    if not names then
      return nil, failure
    end
    all[#all + 1] = names
  end
  return all
end

local function checked_edits(edits, private)
  local all = {}
  for i, edit in ipairs(edits) do
    local name, failure = checked_public(edit.path, private)
    if not name then
      return nil, failure
    end
    all[i] = vim.tbl_extend("force", edit, { path = name })
  end
  return all
end

---@param params table as the executable sent them
---@param private boolean may the paths be those of private files?
---@return table? params with all paths in normal form
---@return claude-code.Failure?
function M.checked(params, private)
  local result, failure = vim.tbl_extend("force", {}, params), nil
  for _, key in ipairs(PATHS) do
    if params[key] and not failure then
      result[key], failure = checked_public(params[key], private)
    end
  end
  if params.file and not failure then
    local folders = require("claude-code.lib.workspace").folders()
    result.file, failure = checked_candidates(params.file, folders)
    result.named = params.file[1]
  end
  if params.files and not failure then
    result.files, failure = checked_files(params.files)
  end
  if params.edits and not failure then
    result.edits, failure = checked_edits(params.edits, private)
  end
  return not failure and result or nil, failure
end

return M
