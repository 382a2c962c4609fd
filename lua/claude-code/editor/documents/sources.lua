--- Files that the texts of buffers were read from: a text stays when the buffer's name, or the link behind it, changes.
local paths = require("claude-code.editor.documents.path")

---@class claude-code.BufferSource
---@field names string[] the file's, and its real path
---@field version string which file or link has the name; renamed away and back, it is another one

---@class claude-code.BufferSources
---@field names string[] from which the text may be
---@field before? claude-code.BufferSource from BufReadPre to BufReadPost
---@field is_unknown? boolean the file was replaced while it was read

---@type table<integer, claude-code.BufferSources> by buffer
local sources = vim.defaulttable(function()
  return { names = {} }
end)
---Does an event name each buffer that is read?
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

---Until it is read again, the buffer's text is that of this file.
function M.on_read(buf)
  local now = source_of(buf)
  local before = sources[buf].before or now
  local names = vim.list_extend(vim.list_slice(before.names), now.names)
  sources[buf] = { names = names, is_unknown = before.version ~= now.version }
end

---Some lines of a buffer were replaced by those of a file.
---@param file string real path
function M.on_lines_read(buf, file)
  local names = sources[buf].names
  if not vim.list_contains(names, file) then
    table.insert(names, file)
  end
end

---For buffers that were read before `on_read` was called for each.
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

---A buffer was given another name: text that no event has named was typed, not read.
function M.on_named(buf)
  sources[buf] = sources[buf]
end

---@return string[]? files from which its text may be; nil if that is unknown, also where it was read without an event
function M.of(buf)
  local source = rawget(sources, buf)
  if not source then
    local is_read = is_followed and vim.api.nvim_buf_is_loaded(buf) and paths.of_buffer(buf)
    return not is_read and {} or nil
  end
  return not source.is_unknown and source.names or nil
end

---@return string[]? files of other names from which its text may be
function M.others(buf, name)
  local others = vim.tbl_filter(function(one)
    return one ~= name
  end, M.of(buf) or {})
  return others[1] and others or nil
end

return M
