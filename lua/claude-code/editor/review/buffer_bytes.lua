--- Texts between buffers and the executable, to the byte as `:w` would write them: lines as bytes, and rows of
--- bytes as lines.
local api = vim.api
local channel = require("claude-code.server.channel")
local file_change = require("claude-code.editor.documents.file_change")
local file_lines = require("claude-code.editor.documents.lines")
local reload = require("claude-code.editor.documents.reload")
local undone = require("claude-code.editor.review.undone")

local BOM = "\239\187\191"

local M = {}

---@return string encoding of its file
local function encoding(buf)
  local name = vim.bo[buf].fileencoding
  return name ~= "" and name or "utf-8"
end

---Was 'fileformat' set after the file was read (by .editorconfig)? `:w` then changes all line ends,
---which is no edit of the user's yet.
local function has_other_line_ends(buf)
  return not vim.bo[buf].modified and file_change.is_misread(buf)
end

---Are its line ends, or its encoding, none that rows can have? Nor is a NUL, in which vim.iconv() ends.
local function has_other_bytes(buf)
  local name = encoding(buf)
  return vim.bo[buf].fileformat == "mac"
    or name:find("^u%a+%-[^8]") ~= nil
    or name ~= "utf-8" and file_lines.bytes(buf, 0, -1):find("\0", 1, true) ~= nil
end

---@class claude-code.ReviewText
---@field id integer
---@field bytes? string in base64; left out if the executable has them (src/review/last-text.ts)

---@type { id: integer, key?: string } the text that was sent last, and what it depends on
local sent = { id = 0 }

local function forget()
  sent.key = nil
end

---The buffer's text, which the next request must send. A missing last line end is no edit of the user's
---until Neovim has written one. Nil where the disk counts: for bytes that rows cannot have, and unsaved
---edits of an older text than Claude has changed.
---@param buf integer loaded
---@return claude-code.ReviewText?
---@return boolean? is_lost the buffer has unsaved changes, and only Neovim knows their bytes
function M.of(buf)
  undone.report(buf)
  if reload.is_stale(buf) or has_other_line_ends(buf) then
    return nil
  elseif has_other_bytes(buf) then
    return nil, vim.bo[buf].modified
  end
  channel.on_detach(forget)
  if not channel.is_attached() then
    return nil
  end
  local name, options, tick = encoding(buf), vim.bo[buf], api.nvim_buf_get_changedtick(buf)
  local ends = { options.fileformat, tostring(options.endofline), tostring(options.bomb) }
  local key = table.concat({ buf, tick, name, unpack(ends) }, " ")
  if sent.key == key then
    return { id = sent.id }
  end
  sent.id, sent.key = sent.id + 1, key
  local bytes = file_lines.bytes(buf, 0, -1, true)
  bytes = name ~= "utf-8" and vim.iconv(bytes, "utf-8", name) or bytes
  return { id = sent.id, bytes = vim.base64.encode(bytes) }
end

---@param buf integer
---@return fun(rows: string[], first: integer): string[] lines_of rows of a file (bytes; `first` is the
--- row of the first one, from 1) as the buffer has them
function M.reader(buf)
  local is_dos = vim.bo[buf].fileformat == "dos" or has_other_line_ends(buf)
  local from, has_bom = encoding(buf), vim.bo[buf].bomb
  return function(rows, first)
    local lines = {}
    for i, row in ipairs(rows) do
      if is_dos then
        row = row:gsub("\r$", "")
      end
      if has_bom and first + i - 1 == 1 and vim.startswith(row, BOM) then
        row = row:sub(#BOM + 1)
      end
      if from ~= "utf-8" then
        -- Between NULs: at one, as in UTF-16, vim.iconv() may write past its buffer (0.10 to 0.12).
        row = row:gsub("[^%z]+", function(part)
          return vim.iconv(part, from, "utf-8")
        end)
      end
      lines[i] = row
    end
    return lines
  end
end

return M
