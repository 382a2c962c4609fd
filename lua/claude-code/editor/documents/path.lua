--- Paths, and buffers by the paths of their files. Never call `vim.fn.bufnr(path)`: it matches patterns, so `foo` finds
--- `foo1.txt`.
local platform = require("claude-code.lib.platform")
local api, uv = vim.api, vim.uv

---Linux follows at most this many symlinks in one path.
local MAX_LINKS = 40
local M = { is_absolute = platform.is_absolute, normal = platform.normal }

---@param path string real path
---@param folder string real path; `/` and `C:/` end with their slash
function M.is_inside(path, folder)
  return vim.startswith(path, (folder:gsub("[/\\]+$", "")) .. "/")
end

---@param path string real path
---@param folders string[] real paths
function M.is_in_any(path, folders)
  return vim.iter(folders):any(function(folder)
    return M.is_inside(path, folder)
  end)
end

---Splits the path of a missing file into the part that exists and the rest, by a binary search: a path of 4,096 bytes
---may have 2,048 parts.
local function split_at_missing(name)
  local slashes = vim.iter(name:gmatch("()/")):totable() ---@type integer[]
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

---Resolves every symlink, as far as the path exists; a link to a missing file leads to that file.
function M.real(path)
  local name = M.normal(path)
  if name:find("\0", 1, true) then
    return name -- libuv would stop reading there, and resolve another file.
  end
  for _ = 1, MAX_LINKS do
    local whole = uv.fs_realpath(name)
    if whole then
      return M.normal(whole)
    end
    local existing, rest = split_at_missing(name)
    -- Without a slash it is the root: "" or `C:`.
    local folder = existing:find("/") and uv.fs_realpath(existing) or existing
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

---@return string? path absolute; nil for a terminal, a scratch buffer, a URL, a folder, or without a name
function M.of_buffer(buf)
  if api.nvim_get_option_value("buftype", { buf = buf }) ~= "" then
    return nil
  end
  local name = api.nvim_buf_get_name(buf)
  if not M.is_absolute(name) or vim.fn.isdirectory(name) == 1 then
    return nil
  end
  return platform.is_windows and M.normal(name) or name
end

---Is the buffer a prompt or a commit message, which users write while they work on another file?
function M.is_message(buf)
  local found = vim.fn.match(vim.bo[buf].filetype, [[\ccommit\|rebase\|^jjdescription$]]) >= 0
  return found or vim.b[buf].claude_code_prompt == true
end

---Buffers by the real paths of their names, for one round of the event loop.
local by_real = { at = -1, bufs = {} } ---@type { at: integer, bufs: table<string, integer> }

---Finds the buffer of a file that is open under the name of a link. Neovim would compare inodes, but a file that is
---replaced by a rename gets another one.
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

---Finds the buffer of a file by its name, else by its real path (symlinks on either side).
---@param path string absolute
---@return integer? buf possibly not loaded
function M.buffer(path)
  local wanted = M.normal(path)
  local real = M.real(wanted)
  for _, name in ipairs({ wanted, real }) do
    -- Neither function matches patterns. bufadd() only looks the buffer up, since it exists.
    local buf = vim.fn.bufexists(name) == 1 and vim.fn.bufadd(name)
    if buf and M.of_buffer(buf) then
      return buf
    end
  end
  return buffer_over_link(real)
end

---@param path string absolute
---@return integer? buf only if it is loaded
function M.loaded_buffer(path)
  local buf = M.buffer(path)
  return buf and api.nvim_buf_is_loaded(buf) and buf or nil
end

---@return string problem
function M.too_big(name, bytes, limit)
  local text = "%s is too big for Claude (%d MB, at most %d MB are possible)"
  return text:format(name, math.ceil(bytes / 2 ^ 20), limit / 2 ^ 20)
end

---@return string base last part, for messages
function M.base(path)
  return (path:gsub("[/\\]+$", ""):match("[^/\\]+$")) or path
end

---@return string title for the user and for Claude, relative to the working folder if the file is inside
function M.title(path, modifiers)
  local title = vim.fn.fnamemodify(path, modifiers or ":~:.")
  return platform.is_windows and (title:gsub("\\", "/")) or title
end

return M
