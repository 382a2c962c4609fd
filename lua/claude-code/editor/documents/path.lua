--- Buffers and files by their full names.
--- `vim.fn.bufnr(path)` is never used: it matches patterns, so `foo` finds `foo1.txt`.
local api, uv = vim.api, vim.uv

local M = {}

---Is this the absolute path of a file, and not a relative name or a URL such as `oil:///x`?
---@param name string
---@return boolean
function M.is_absolute(name)
  return name:find("^/") ~= nil or name:find("^%a:[/\\]") ~= nil
end

---One spelling per path: absolute, no `.`, `..` or doubled slashes. Neither `~` nor `$VAR` is
---expanded: both are legal in file names.
---@param path string
---@return string
function M.normal(path)
  local full = M.is_absolute(path) and path or ((uv.cwd() or "") .. "/" .. path)
  return vim.fs.normalize(full, { expand_env = false })
end

---The path with every symlink resolved; of a file that does not exist yet, its folder resolved.
---@param path string
---@return string
function M.real(path)
  local existing, rest = M.normal(path), ""
  if existing:find("\0", 1, true) then
    -- libuv reads up to there, and would resolve another file.
    return existing
  end
  while true do
    local real = uv.fs_realpath(existing)
    if real then
      return vim.fs.normalize(real .. rest, { expand_env = false })
    end
    local parent, name = existing:match("^(.*)/([^/]*)$")
    if not parent or parent == "" then
      return existing .. rest
    end
    existing, rest = parent, "/" .. name .. rest
  end
end

---The absolute path behind a buffer, or nil if it shows no file (terminal, scratch, URL, a
---folder's listing, unnamed).
---@param buf integer
---@return string?
function M.of_buffer(buf)
  if api.nvim_get_option_value("buftype", { buf = buf }) ~= "" then
    return nil
  end
  local name = api.nvim_buf_get_name(buf)
  return M.is_absolute(name) and vim.fn.isdirectory(name) == 0 and name or nil
end

---The buffer of a file: by equal name first, else by equal real path (symlinks on either side).
---@param path string absolute
---@return integer? buf possibly not loaded
function M.buffer(path)
  local wanted = M.normal(path)
  local files = {} ---@type table<integer, string>
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = M.of_buffer(buf)
    if name then
      name = M.normal(name)
      if name == wanted then
        return buf
      end
      files[buf] = name
    end
  end
  local real = M.real(wanted)
  for buf, name in pairs(files) do
    if name == real or uv.fs_realpath(name) == real then
      return buf
    end
  end
end

---Like M.buffer, but only if its text is in memory.
---@param path string absolute
---@return integer? buf
function M.loaded_buffer(path)
  local buf = M.buffer(path)
  return buf and api.nvim_buf_is_loaded(buf) and buf or nil
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
