--- Merges the unsaved edits of a buffer with a file that another program has changed, in one undo step. If both changed
--- the same lines, nothing happens until the user asks for the merge (`gm`).
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local checktime = require("claude-code.editor.documents.checktime")
local disk = require("claude-code.editor.documents.disk")
local file_change = require("claude-code.editor.documents.file_change")
local file_lines = require("claude-code.editor.documents.lines")
local merge = require("claude-code.editor.documents.merge").three_way
local notify = require("claude-code.messages.notify")
local patch = require("claude-code.editor.documents.patch")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")

local LABELS = { "your unsaved edits", "before both", "the file on disk" }
---How long `allow_overwrite` holds.
local OVERWRITE_MS = 10000
---The limit of a text that is remembered, in bytes.
local MAX_BYTES = 2 * 1024 * 1024

local M = {
  bases = {}, ---@type table<integer, claude-code.BaseText> by buffer
}

---@class claude-code.BaseText of a buffer when it was last read from its file, or written to it
---@field version string of the file
---@field lines? string[] nil: too large, or unknown
---@field endofline? boolean
---@field merged? string[] lines of the buffer; the text that is about to be written includes their edits

---@class claude-code.UnsavedConflict
---@field events claude-code.Autocommands
---@field keys string[] that merge
---@field said? string version of the file in the last message

local conflicts = {} ---@type table<integer, claude-code.UnsavedConflict> by buffer

---Remembers the text that later edits start from. If the buffer has edits already, its file must still have that text.
function M.remember_base(buf)
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  file_change.note_view(buf)
  local options, lines = vim.bo[buf], nil ---@type vim.bo, string[]?
  if options.modified and M.bases[buf] then
    return
  elseif options.modified then
    -- If Neovim finds no change, the file has the text from before the edits.
    local is_new = checktime.has_never_read(buf) or checktime.compare(buf)
    local change = not is_new and file_change.read(buf)
    lines = change and change.new or nil
  elseif api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) <= MAX_BYTES then
    lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  local version = options.modified and not lines and "" or disk.version(api.nvim_buf_get_name(buf))
  M.bases[buf] = { version = version, lines = lines, endofline = options.endofline }
end

---Lets the next write replace conflicting edits, which the user has merged into that text. |u| brings them back.
function M.allow_overwrite(buf)
  local base = M.bases[buf] or { version = "" }
  M.bases[buf], base.merged = base, api.nvim_buf_get_lines(buf, 0, -1, false)
  timer.once(OVERWRITE_MS, function()
    base.merged = nil
  end)
end

---@return boolean is_outdated its file has changed since the base was remembered
function M.is_outdated(buf)
  return M.bases[buf] ~= nil and M.bases[buf].version ~= disk.version(api.nvim_buf_get_name(buf))
end

---@return boolean is_stale it has edits that conflict with its file
function M.is_stale(buf)
  return conflicts[buf] ~= nil and vim.bo[buf].modified
end

function M.close_conflict(buf)
  local conflict = conflicts[buf]
  if not conflict then
    return
  end
  conflicts[buf] = nil
  for _, key in ipairs(conflict.keys) do
    pcall(vim.keymap.del, "n", key, { buffer = buf })
  end
  conflict.events:stop()
  vim.cmd.redrawstatus({ bang = true })
end

---Merges the file's text into a modified buffer.
---@param with_marks? boolean even if there are conflicts, which get markers
---@return integer? conflicts nil: nothing was changed
---@return "conflict"|"locked"|"unreadable"|nil problem "locked": Neovim refuses changes for now (E565)
function M.merge(buf, with_marks)
  local change, base = file_change.read(buf), M.bases[buf] or {}
  if not change or change.version == "" then
    return nil, "unreadable"
  end
  local lines, count = merge(change.old, base.lines, change.new, LABELS)
  if count > 0 and base.merged then
    lines, count = merge(change.old, base.merged, change.new, LABELS)
  end
  if not lines or count > 0 and not with_marks then
    return nil, lines and "conflict" or "unreadable"
  end
  local endofline = change.endofline
  if base.endofline == endofline then
    endofline = vim.bo[buf].endofline
  end
  if not patch.from_file(buf, file_change.between(change.old, lines, endofline), change.file) then
    return nil, "locked"
  end
  checktime.take_time(buf)
  M.bases[buf] = { version = change.version, lines = change.new, endofline = change.endofline }
  vim.bo[buf].modified = endofline ~= change.endofline or not file_lines.are_same(lines, change.new)
  M.close_conflict(buf)
  patch.emit_changed(buf)
  return count
end

---@return string key or command that merges
function M.merge_hint(buf)
  return conflicts[buf] and conflicts[buf].keys[1] or ":Claude diff merge"
end

---@return string? text for the status line, about one file
function M.text()
  local buf = vim.iter(vim.spairs(conflicts)):find(M.is_stale)
  return buf and ("%s merges %s"):format(M.merge_hint(buf), path.base(api.nvim_buf_get_name(buf)))
end

local function report(buf, problem)
  local text = problem == "conflict"
      and M.merge_hint(buf) .. " merges %s with your unsaved edits, which conflict with what was written to it"
    or ":w! overwrites %s, :e! loads it: it changed on disk, and has unsaved edits, which are kept"
  notify.warn(text:format(path.base(api.nvim_buf_get_name(buf))))
end

---Merges with markers around conflicts; |u| undoes it.
---@param buf integer current
---@return boolean was_stale
function M.merge_with_marks(buf)
  if not M.is_stale(buf) then
    return false
  end
  local count, problem = M.merge(buf, true)
  if count == 0 then
    notify.info("merged without a conflict: :w writes both; u undoes the merge")
  elseif count then
    vim.cmd("normal! m'")
    vim.fn.search("^<<<<<<< " .. LABELS[1], "cw")
    local words = require("claude-code.lib.text").count(count, "conflict")
    notify.info(("resolve %s, then :w; u undoes the merge"):format(words))
  else
    report(buf, problem)
  end
  return true
end

---@return string[] keys that were mapped; the user's own mappings stay
local function map(buf)
  local keys = require("claude-code.config").get().diff.keys.merge or {}
  local options = { buffer = buf, desc = "Merge your unsaved edits", nowait = true, unique = true }
  local function merge_here()
    M.merge_with_marks(buf)
  end
  return vim.tbl_filter(function(key)
    return (pcall(vim.keymap.set, "n", key, merge_here, options))
  end, type(keys) == "string" and { keys } or keys)
end

---Leaves both texts as they are until the user decides, and says so once for each change of the file.
---@param buf integer modified
---@param problem "conflict"|"unreadable"
---@param again fun() checks again, since a program may still be writing the file
function M.open_conflict(buf, problem, again)
  if not conflicts[buf] then
    local events = autocommands.new("unsaved." .. buf)
    conflicts[buf] = { events = events, keys = map(buf) }
    -- With `once`, the other events would remain.
    events:on({ "BufWritePost", "BufReadPost", "BufWipeout" }, M.close_conflict, { buffer = buf })
    events:on("BufModifiedSet", function()
      if not vim.bo[buf].modified then
        again()
      end
    end, { buffer = buf })
    again()
  end
  local version = disk.written_version(api.nvim_buf_get_name(buf))
  if conflicts[buf].said ~= version then
    conflicts[buf].said = version
    vim.cmd.redrawstatus({ bang = true })
    report(buf, problem)
  end
end

---@param buf integer modified
---@param text? string that Claude is about to write; nil: unknown
---@return boolean would_conflict unsaved edits conflict with that text, or with the file's current one
function M.would_conflict(buf, text)
  if not text then
    return M.is_stale(buf)
  end
  local ours, base = api.nvim_buf_get_lines(buf, 0, -1, false), M.bases[buf] or {}
  local lines, count = merge(ours, base.lines, file_lines.parse(text).lines, LABELS)
  return lines == nil or count > 0
end

return M
