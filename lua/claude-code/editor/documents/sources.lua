--- Remembers the files that the texts of buffers came from: a text stays when its buffer gets another name, or a link
--- gets another target.
local paths = require("claude-code.editor.documents.path")

---@class claude-code.BufferSource
---@field names string[] name and real path of the file
---@field version string identifies the file or link with that name; changes if it is renamed away and back

---@class claude-code.BufferSources
---@field names string[] of files that the text may come from
---@field before? claude-code.BufferSource between BufReadPre and BufReadPost
---@field is_unknown? boolean the file was replaced while Neovim read it

---@type table<integer, claude-code.BufferSources> by buffer
local sources = vim.defaulttable(function()
  return { names = {} }
end)
---Is `on_read` called for each buffer that is read?
local is_followed = false

local M = {}

---Only the plugin that made a URL knows which part of it is the file: `gitsigns:///work/.git//:0:.env`,
---`jj:///work/.env?rev=1`, `term:///work//7:cat .env`.
function M.is_url(path)
  return path:find("^%a[%w+.-]+:") ~= nil
end

local function source_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == "" or M.is_url(name) then
    return { names = { name }, version = "" }
  end
  name = paths.normal(name)
  local stat = vim.uv.fs_lstat(name)
  local version = stat and ("%d:%d.%d"):format(stat.ino, stat.ctime.sec, stat.ctime.nsec) or ""
  return { names = { name, paths.real(name) }, version = version }
end

function M.before_read(buf)
  sources[buf].before = source_of(buf)
end

function M.on_read(buf)
  local now = source_of(buf)
  local before = sources[buf].before or now
  local names = vim.list_extend(vim.list_slice(before.names), now.names)
  sources[buf] = { names = names, is_unknown = before.version ~= now.version }
end

---Notes that lines of a file have replaced some of the buffer.
---@param file string real path
function M.on_lines_read(buf, file)
  local names = sources[buf].names
  if not vim.list_contains(names, file) then
    table.insert(names, file)
  end
end

---Notes the sources of buffers that were read before.
function M.start(bufs)
  is_followed = true
  for _, buf in ipairs(bufs) do
    if vim.api.nvim_buf_is_loaded(buf) and #sources[buf].names == 0 then
      M.on_read(buf)
    end
  end
end

function M.stop()
  is_followed = false
end

---@param buf integer that is gone
function M.forget(buf)
  sources[buf] = nil
end

---Notes that a buffer got another name: if no event reported a read, its text was typed.
function M.on_named(buf)
  sources[buf] = sources[buf]
end

---@return string[]? files that the text may come from; nil if they are unknown, also because no event reported the read
function M.of(buf)
  local source = rawget(sources, buf)
  if not source then
    local is_read = is_followed and vim.api.nvim_buf_is_loaded(buf) and paths.of_buffer(buf)
    return not is_read and {} or nil
  end
  return not source.is_unknown and source.names or nil
end

---@return string[]? files that the text may come from, except the one with the buffer's name
function M.others(buf, name)
  local others = vim.tbl_filter(function(one)
    return one ~= name
  end, M.of(buf) or {})
  return others[1] and others or nil
end

return M
