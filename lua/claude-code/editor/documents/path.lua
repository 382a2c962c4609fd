--- Buffers and files by their full names.
--- `vim.fn.bufnr(path)` is never used: it matches patterns, so `foo` finds `foo1.txt`.
local api, uv = vim.api, vim.uv

---As many as Linux follows in one path.
local MAX_LINKS = 40
local IS_WINDOWS = vim.fn.has("win32") == 1

local M = {}

---Is this the absolute path of a file, and not a relative name or a URL such as `oil:///x`?
---@param name string
---@return boolean
function M.is_absolute(name)
  return name:find("^/") ~= nil or name:find("^%a:[/\\]") ~= nil
end

---@param path string a real path
---@param folder string the same; `/` and `C:/` end with their slash
---@return boolean
function M.is_inside(path, folder)
  return vim.startswith(path, (folder:gsub("[/\\]+$", "")) .. "/")
end

---@param path string a real path
---@param folders string[] the same
---@return boolean
function M.is_in_any(path, folders)
  return vim.iter(folders):any(function(folder)
    return M.is_inside(path, folder)
  end)
end

---One spelling per path: absolute, no `.`, `..` or doubled slashes. Neither `~` nor `$VAR` is
---expanded: both are legal in file names.
---@param path string
---@return string
function M.normal(path)
  local full = M.is_absolute(path) and path or ((uv.cwd() or "") .. "/" .. path)
  if not IS_WINDOWS and not full:find("/%.?%.?/") and not full:find("/%.?%.?$") then
    return full
  end
  return vim.fs.normalize(full, { expand_env = false })
end

---Splits a path that does not exist behind the longest part of it that does. By halves: a path of
---4,096 bytes may have 2,048 parts.
---@param name string in normal form
---@return string existing without a slash at its end
---@return string rest begins with a slash
local function split_at_missing(name)
  local slashes = {} ---@type integer[]
  for at in name:gmatch("()/") do
    slashes[#slashes + 1] = at
  end
  local low, high = 1, #slashes
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if uv.fs_stat(name:sub(1, slashes[middle] - 1)) then
      low = middle
    else
      high = middle - 1
    end
  end
  return name:sub(1, slashes[low] - 1), name:sub(slashes[low])
end

---The path with every symlink resolved, of what does not exist yet as far as it exists: a link to a
---file that is gone gives that file.
---@param path string
---@return string
function M.real(path)
  local name = M.normal(path)
  if name:find("\0", 1, true) then
    -- libuv reads up to there, and would resolve another file.
    return name
  end
  for _ = 1, MAX_LINKS do
    local whole = uv.fs_realpath(name)
    if whole then
      return M.normal(whole)
    end
    local existing, rest = split_at_missing(name)
    local folder = existing == "" and "" or uv.fs_realpath(existing) or existing
    local first, behind = rest:match("^(/[^/]*)(.*)$")
    local target = uv.fs_readlink(folder .. first)
    name = folder .. rest
    if not target then
      break
    end
    name = M.normal((M.is_absolute(target) and target or folder .. "/" .. target) .. behind)
  end
  return M.normal(name)
end

---The absolute path behind a buffer, or nil if it shows no file (terminal, scratch, URL, a folder's listing, unnamed).
---@param buf integer
---@return string?
function M.of_buffer(buf)
  if api.nvim_get_option_value("buftype", { buf = buf }) ~= "" then
    return nil
  end
  local name = api.nvim_buf_get_name(buf)
  return M.is_absolute(name) and vim.fn.isdirectory(name) == 0 and name or nil
end

---Is it a prompt of Claude's, or a commit message? Written in between, it is never the file that the user works on.
---@param buf integer
---@return boolean
function M.is_message(buf)
  local found = vim.fn.match(vim.bo[buf].filetype, [[\ccommit\|rebase\|^jjdescription$]]) >= 0
  return found or vim.b[buf].claude_code_prompt == true
end

---Buffers by where their names led in one round of the event loop.
local by_real = { at = -1, bufs = {} } ---@type { at: integer, bufs: table<string, integer> }

---Also where Neovim does not: it compares the file's number, which a file replaced by a rename does not keep.
---@param real string
---@return integer?
local function buffer_over_link(real)
  if by_real.at ~= uv.now() then
    by_real = { at = uv.now(), bufs = {} }
    for _, buf in ipairs(api.nvim_list_bufs()) do
      by_real.bufs[M.normal(uv.fs_realpath(api.nvim_buf_get_name(buf)) or "")] = buf
    end
  end
  local buf = by_real.bufs[real]
  local name = buf and api.nvim_buf_is_valid(buf) and M.of_buffer(buf)
  return name and M.real(name) == real and buf or nil
end

---The buffer of a file: by equal name first, else by equal real path (symlinks on either side).
---@param path string absolute
---@return integer? buf possibly not loaded
function M.buffer(path)
  local wanted = M.normal(path)
  local real = M.real(wanted)
  for _, name in ipairs({ wanted, real }) do
    -- Neither takes a pattern. bufadd() makes no buffer where bufexists() has found one.
    local buf = vim.fn.bufexists(name) == 1 and vim.fn.bufadd(name)
    if buf and M.of_buffer(buf) then
      return buf
    end
  end
  return buffer_over_link(real)
end

---Like M.buffer, but only if its text is in memory.
---@param path string absolute
---@return integer? buf
function M.loaded_buffer(path)
  local buf = M.buffer(path)
  return buf and api.nvim_buf_is_loaded(buf) and buf or nil
end

---@param name string
---@param bytes integer
---@param limit integer
---@return string problem
function M.too_big(name, bytes, limit)
  local text = "%s is too big for Claude (%d MB, at most %d MB are possible)"
  return text:format(name, math.ceil(bytes / 2 ^ 20), limit / 2 ^ 20)
end

---The last part of a path, for messages.
---@param path string
---@return string
function M.base(path)
  return (path:gsub("[/\\]+$", ""):match("[^/\\]+$")) or path
end

---A path as the user would name it, for messages: two files of one name differ.
---@param path string
---@return string title from the working folder, if the file is below that
function M.title(path)
  return vim.fn.fnamemodify(path, ":~:.")
end

return M
