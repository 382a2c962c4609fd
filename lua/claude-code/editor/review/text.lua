--- Sends texts of buffers to the executable, byte for byte as `:w` would write them, and converts its rows of bytes
--- into lines. Reports when Neovim's undo or a write changes a text.
local api, uv = vim.api, vim.uv
local channel = require("claude-code.server.channel")
local disk = require("claude-code.editor.documents.disk")
local file_change = require("claude-code.editor.documents.file_change")
local file_lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")
local reload = require("claude-code.editor.documents.reload")

local BOM = "\239\187\191"

---Reading a larger file would take too long.
local MAX_BYTES = 2 * 1024 * 1024

---Time after Neovim's write in which the user's formatter may change the file, in ms.
local FORMATTED_MS = 3000

local M = {}

---@type table<integer, { decision: string, change: integer }[]> by buffer: decisions, the last one first, with the
--- number of their change in the undo tree
local undos = {}

---@param decision string that made its last change
function M.add_undo(buf, decision)
  local undo = { decision = decision, change = api.nvim_buf_call(buf, vim.fn.changenr) }
  undos[buf] = vim.list_extend({ undo }, undos[buf] or {})
end

---Reports that the buffer has the text from before an undo. Must be reported before that text is sent or written.
function M.take_back(buf, decision)
  local params = { decision = decision, path = path.real(api.nvim_buf_get_name(buf)) }
  channel.request("review/back", params, function() end)
end

---Takes back the decisions whose changes no longer lead to the buffer's text. Must run before that text is sent or
---reported as written.
---@param buf? integer
function M.report_undone(buf)
  if not buf or not undos[buf] then
    return
  end
  local tree, leads = api.nvim_buf_call(buf, vim.fn.undotree), {}
  for _, entry in ipairs(tree.entries) do
    leads[entry.seq] = entry.seq <= tree.seq_cur
  end
  undos[buf] = vim.tbl_filter(function(undo)
    -- A reloaded buffer may have another tree.
    if not leads[undo.change] and undo.change <= tree.seq_last then
      M.take_back(buf, undo.decision)
    end
    return leads[undo.change]
  end, undos[buf])
end

local function encoding(buf)
  local name = vim.bo[buf].fileencoding
  return name ~= "" and name or "utf-8"
end

---'fileformat' was set after the file was read (by .editorconfig): `:w` will change all line ends, but the user has not
---edited them yet.
local function has_other_line_ends(buf)
  return not vim.bo[buf].modified and file_change.is_misread(buf)
end

---Its line ends or encoding cannot be sent as rows of bytes, or it has a NUL, at which vim.iconv() stops.
local function has_other_bytes(buf)
  local name = encoding(buf)
  return file_lines.format(buf) == "mac"
    or name:find("^u%a+%-[^8]") ~= nil
    or name ~= "utf-8" and file_lines.bytes(buf):find("\0", 1, true) ~= nil
end

---@class claude-code.ReviewText
---@field id integer
---@field bytes? string in base64; left out if the executable has them (src/review/requests.ts)

---@type { id: integer, key?: string } the text that was sent last, and what it depends on
local sent = { id = 0 }

local function forget()
  sent.key = nil
end

---The buffer's text, which the next request must send. A missing last newline does not count as an edit until Neovim
---has written one.
---@param buf integer loaded
---@return claude-code.ReviewText? text nil: use the file on disk: Claude changed it, or rows cannot express the text
---@return boolean? is_lost the buffer has unsaved changes, and only Neovim knows their bytes
function M.of(buf)
  M.report_undone(buf)
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
  local ends = { file_lines.format(buf), tostring(options.endofline), tostring(options.bomb) }
  local key = table.concat({ buf, tick, name, unpack(ends) }, " ")
  if sent.key == key then
    return { id = sent.id }
  end
  sent.id, sent.key = sent.id + 1, key
  local bytes = file_lines.bytes(buf, true)
  bytes = name ~= "utf-8" and vim.iconv(bytes, "utf-8", name) or bytes
  return { id = sent.id, bytes = vim.base64.encode(bytes) }
end

---Unsaved texts of all buffers.
---@return { path: string, text: claude-code.ReviewText }[]
function M.unsaved()
  local texts = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified and path.of_buffer(buf)
    local own = name and M.of(buf)
    if own then
      texts[#texts + 1] = { path = path.real(name), text = own }
    end
  end
  return texts
end

---@return fun(rows: string[], first: integer): string[] lines_of converts rows of a file (bytes; the first one
--- is row `first`, 1-based) into lines as in the buffer
function M.reader(buf)
  local is_dos = file_lines.format(buf) == "dos" or has_other_line_ends(buf)
  local from, has_bom = encoding(buf), vim.bo[buf].bomb
  -- Neovim keeps the CR of a last line without a line end.
  local kept = not vim.bo[buf].endofline and api.nvim_buf_line_count(buf)
  return function(rows, first)
    local lines = {}
    for i, row in ipairs(rows) do
      if is_dos and first + i - 1 ~= kept then
        row = row:gsub("\r$", "")
      end
      if has_bom and first + i - 1 == 1 and vim.startswith(row, BOM) then
        row = row:sub(#BOM + 1)
      end
      if from ~= "utf-8" then
        -- Between NULs: at a NUL, vim.iconv() may write past its buffer (0.10 to 0.12).
        row = row:gsub("[^%z]+", function(part)
          return vim.iconv(part, from, "utf-8")
        end)
      end
      lines[i] = row
    end
    return lines
  end
end

---@type table<string, { over?: string, at: number }> by path: the content that Neovim overwrote while Claude
--- may be changing files, which separates a command's changes from what the user saves; and the time of Neovim's last
--- write, in ms since the epoch
local writes = {}

---@param name string absolute
---@param runs boolean a tool of Claude may be changing files
function M.before_write(name, runs)
  local write, stat = writes[name] or { at = 0 }, uv.fs_stat(name)
  local changed_at = stat and stat.mtime.sec * 1000 + stat.mtime.nsec / 1e6 or 0
  local is_by_others = changed_at >= write.at + FORMATTED_MS
  write.over = runs and is_by_others and regular_file.read(name, MAX_BYTES) or nil
  writes[name] = write
end

---Reports a file that Neovim has written.
---@param name string absolute
function M.after_write(name)
  local bytes = writes[name] and writes[name].over
  local seconds, microseconds = uv.gettimeofday()
  writes[name] = { at = seconds * 1000 + microseconds / 1000 }
  local params = { path = name, version = disk.written_version(name) }
  params.over = bytes and vim.base64.encode(bytes) or nil
  M.report_undone(path.loaded_buffer(name))
  channel.request("review/written", params, function() end)
end

return M
