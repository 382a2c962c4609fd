--- Texts between buffers and the executable, to the byte as `:w` would write them: lines as bytes, and rows of
--- bytes as lines.
local api = vim.api
local channel = require("claude-code.server.channel")
local file_change = require("claude-code.editor.documents.file_change")
local file_lines = require("claude-code.editor.documents.lines")
local reload = require("claude-code.editor.documents.reload")

local BOM = "\239\187\191"

local M = {}

---@param buf integer
---@return string encoding of its file
local function encoding(buf)
  local name = vim.bo[buf].fileencoding
  return name ~= "" and name or "utf-8"
end

---Was 'fileformat' set after the file was read (by .editorconfig)? `:w` then changes all line ends,
---which is no edit of the user's yet.
---@param buf integer
---@return boolean
local function has_other_line_ends(buf)
  return not vim.bo[buf].modified and file_change.is_misread(buf)
end

---The executable keeps more (src/review/buffer-texts.ts).
local MOST_SENT = 4

---@class claude-code.SentTexts
---@field last_id integer
---@field texts { key: string, id: integer }[] the last ones, by what they depend on: the executable has them
local sent = { last_id = 0, texts = {} }

---@param key string
---@param id integer
local function remember(key, id)
  table.insert(sent.texts, { key = key, id = id })
  if #sent.texts > MOST_SENT then
    table.remove(sent.texts, 1)
  end
end

---The next request has the bytes of its texts again.
function M.forget_sent()
  sent.texts = {}
end

---@param buf integer
---@return string key another one as soon as `:w` would write other bytes
local function key_of(buf)
  local options = vim.bo[buf]
  return table.concat({
    buf,
    api.nvim_buf_get_changedtick(buf),
    options.fileformat,
    encoding(buf),
    tostring(options.bomb),
    tostring(options.endofline),
  }, " ")
end

---@param buf integer
---@return string in the file's encoding, in base64
local function encoded(buf)
  local bytes = file_lines.bytes(buf, 0, -1, true)
  if encoding(buf) ~= "utf-8" then
    bytes = vim.iconv(bytes, "utf-8", encoding(buf)) or bytes
  end
  return vim.base64.encode(bytes)
end

---@class claude-code.ReviewText
---@field id integer
---@field bytes? string in base64; left out if the executable has them

---The buffer's text, which the next request must send: what was sent is not made again. A missing last
---line end is no edit of the user's until Neovim has written one. Nil where the disk counts: for line
---ends that rows cannot have, and unsaved edits of an older text than Claude has changed.
---@param buf integer loaded
---@return claude-code.ReviewText?
function M.of(buf)
  local is_mac = vim.bo[buf].fileformat == "mac"
  if is_mac or reload.is_stale(buf) or has_other_line_ends(buf) then
    return nil
  end
  channel.on_detach(M.forget_sent)
  if not channel.is_attached() then
    return nil
  end
  local key = key_of(buf)
  for _, known in ipairs(sent.texts) do
    if known.key == key then
      return { id = known.id }
    end
  end
  sent.last_id = sent.last_id + 1
  remember(key, sent.last_id)
  return { id = sent.last_id, bytes = encoded(buf) }
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
        row = vim.iconv(row, from, "utf-8") or row
      end
      lines[i] = row
    end
    return lines
  end
end

---The buffer has a text now that the executable has, too, unless its line ends or characters make other bytes
---of it.
---@param buf integer
---@param id integer
function M.note_known(buf, id)
  if vim.bo[buf].fileformat == "unix" and encoding(buf) == "utf-8" then
    remember(key_of(buf), id)
  end
end

return M
