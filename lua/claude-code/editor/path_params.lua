--- Checks the paths among a request's parameters before its method runs: a method gets only paths in normal form that
--- name no special file, and private files only if it sends no part of them. The executable (src/editor/path.ts) has
--- checked their length and characters.
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")

---Looking for a file takes about 0.2 ms, and longer if its path is long.
local MAX_FILES, MAX_BYTES_OF_FILES = 50, 65536

local PATHS = { "path", "old_path", "new_path" }

local M = {}

---Is it neither a file nor a folder? Files of /proc and /sys claim to be regular, but some never end, and some make the
---reader wait.
local function is_special(name)
  local stat = vim.uv.fs_stat(name)
  if not stat or stat.type == "directory" then
    return false
  end
  local real = path.real(name)
  return stat.type ~= "file" or vim.startswith(real, "/proc/") or vim.startswith(real, "/sys/")
end

---@return string? name in normal form, claude-code.Failure?
local function checked(given)
  local name = path.normal(given)
  if is_special(name) then
    return nil, given .. " is not a regular file"
  end
  return name
end

---Also looks at the buffer of the file, whose text a method would send.
local function is_private(name)
  local buf = path.buffer(name)
  return privacy.is_private(name) or (buf ~= nil and privacy.hides(buf))
end

local function checked_public(given, may_be_private)
  local name, failure = checked(given)
  if name and not may_be_private and is_private(name) then
    return nil, { code = "private", message = privacy.refusal(given) }
  end
  return name, failure
end

---@param candidates string[] possible paths of one file; relative ones are looked up in the workspace folders
---@return string[]? names in normal form, without private files
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

local function checked_files(files)
  local bytes = #table.concat(vim.iter(files):flatten():totable())
  if #files > MAX_FILES or bytes > MAX_BYTES_OF_FILES then
    local text = "Too many files for one call: %d; at most %d are possible (and "
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

local function checked_edits(edits, may_be_private)
  local all = {}
  for i, edit in ipairs(edits) do
    local name, failure = checked_public(edit.path, may_be_private)
    if not name then
      return nil, failure
    end
    all[i] = vim.tbl_extend("force", edit, { path = name })
  end
  return all
end

---@param params table as the executable sent them
---@return table? params with all paths in normal form
---@return claude-code.Failure?
function M.checked(params, may_be_private)
  local result, failure = vim.tbl_extend("force", {}, params), nil
  for _, key in ipairs(PATHS) do
    if params[key] and not failure then
      result[key], failure = checked_public(params[key], may_be_private)
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
    result.edits, failure = checked_edits(params.edits, may_be_private)
  end
  return not failure and result or nil, failure
end

return M
