--- Compares a file's text with its buffer, if Neovim would read the file with the options that the buffer has.
local api = vim.api
local checktime = require("claude-code.editor.documents.checktime")
local disk = require("claude-code.editor.documents.disk")
local file_lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")

---Larger files are left to Neovim: 10 MB take 0.2 s in Lua.
local MAX_BYTES, MAX_LINES = 10 * 1024 * 1024, 200000
---Bytes that are read to recognize line ends.
local SNIFF = 8192

local M = {}

---Buffers in which a plugin shows text that differs from the file's (encrypted files).
local views = {} ---@type table<integer, true>

---@class claude-code.FileChange
---@field old string[] the buffer's lines
---@field new string[] the file's
---@field head integer number of lines that both begin with
---@field tail integer number of lines that both end with, after the head
---@field endofline boolean
---@field version string of the file before it was read
---@field file? string real path

---Does the buffer show the file's text, in UTF-8?
local function is_plain(buf)
  local options = vim.bo[buf]
  local encoding = options.fileencoding
  return not options.binary
    and not views[buf]
    and options.fileformat ~= "mac"
    and (encoding == "" or encoding == "utf-8")
    and #checktime.autocommands(buf, "BufReadCmd") == 0
    and #checktime.autocommands(buf, "BufWriteCmd") == 0
end

---Notes whether a buffer that was just read or written shows its file's text, once the autocommands of all plugins have
---run.
function M.note_view(buf)
  local name = api.nvim_buf_get_name(buf)
  local version = disk.version(name)
  vim.schedule(function()
    if not api.nvim_buf_is_loaded(buf) or vim.bo[buf].modified then
      return
    end
    local lines, format = api.nvim_buf_get_lines(buf, 0, -1, false), vim.bo[buf].fileformat
    local text = table.concat(lines, format == "dos" and "\r\n" or "\n")
    local bytes = text ~= "" and regular_file.read(name, 2 * #text + SNIFF)
    if bytes and disk.version(name) == version then
      -- The lines lack only a byte order mark and the last line end.
      views[buf] = (#bytes > #text + 5 or not bytes:find(text, 1, true)) or nil
    end
  end)
end

local function is_ascii(line)
  -- LuaJIT compiles this loop; a pattern would take ten times as long.
  for i = 1, #line do
    if line:byte(i) > 127 then
      return false
    end
  end
  return true
end

function M.is_utf8(text)
  if is_ascii(text) then
    return true
  end
  local line = text:gsub("[\240-\244][\128-\191][\128-\191][\128-\191]", ".")
  line = line:gsub("[\224-\239][\128-\191][\128-\191]", "."):gsub("[\194-\223][\128-\191]", ".")
  return is_ascii(line)
end

---@return claude-code.Text? text nil if the file is empty, binary, huge or missing
local function read(name)
  local bytes = regular_file.read(name, MAX_BYTES)
  local text = bytes and not bytes:find("\0", 1, true) and file_lines.parse(bytes) or nil
  return text and (#text.lines > 1 or text.lines[1] ~= "" or text.newline) and text or nil
end

---Did Neovim read the file with an outdated 'fileformat'? It does so when a window begins to show the buffer. Then a
---CRLF file shows ^M, and an LF file would be written with CRLF. Mixed line ends are "unix".
function M.is_misread(buf)
  local name, format = api.nvim_buf_get_name(buf), vim.bo[buf].fileformat
  local head = regular_file.head(name, SNIFF) or ""
  local before_end = head:match("(.?)\n")
  if before_end == "\r" and format == "unix" then
    return file_lines.is_crlf(regular_file.read(name, MAX_BYTES) or head)
  end
  return before_end ~= nil and before_end ~= "\r" and format == "dos"
end

---@return boolean is_empty the buffer or its file is empty, without even a line end
function M.is_empty(buf)
  local stat = vim.uv.fs_stat(api.nvim_buf_get_name(buf))
  return stat ~= nil and stat.size == 0
    or file_lines.is_empty(buf, api.nvim_buf_get_lines(buf, 0, -1, false))
end

---@param old string[] the buffer's lines
---@return claude-code.FileChange
function M.between(old, new, endofline)
  local most, head, tail = math.min(#old, #new), 0, 0
  while head < most and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  while tail < most - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  return { old = old, new = new, head = head, tail = tail, endofline = endofline, version = "" }
end

---@return claude-code.FileChange? change nil if Neovim must read the file, for example with another 'fileformat'
function M.read(buf)
  local name, options = api.nvim_buf_get_name(buf), vim.bo[buf]
  local version, file = disk.version(name), path.real(name)
  local text = is_plain(buf) and read(file)
  if not text or text.bom ~= options.bomb or text.crlf ~= (options.fileformat == "dos") then
    return nil
  end
  local old = api.nvim_buf_get_lines(buf, 0, -1, false)
  if #text.lines > MAX_LINES or file_lines.is_empty(buf, old) then
    return nil
  end
  local change = M.between(old, text.lines, text.newline)
  for i = change.head + 1, #change.new - change.tail do
    if not M.is_utf8(change.new[i]) then
      return nil
    end
  end
  change.version, change.file = version, file
  return change
end

return M
