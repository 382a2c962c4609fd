--- Reloads buffers whose files have changed on disk, without a prompt, and merges unsaved edits (unsaved.lua).
local api, uv = vim.api, vim.uv
local blocked = require("claude-code.editor.input.blocked")
local checktime = require("claude-code.editor.documents.checktime")
local disk = require("claude-code.editor.documents.disk")
local file_change = require("claude-code.editor.documents.file_change")
local patches = require("claude-code.editor.documents.patch")
local path = require("claude-code.editor.documents.path")
local supply = require("claude-code.editor.documents.supply")
local timer = require("claude-code.lib.timer")
local unsaved = require("claude-code.editor.documents.unsaved")

---A file that changes while it is read is read again, at most this often; after that Neovim reads it.
local MAX_READS = 3
---How long to wait for the text of an emptied file, and the delay before an unsettled file is checked again.
local EMPTY_NS, WRITE_MS = 20 * 1000000, 300
---No program is about to write a file that has been empty for this time.
local SETTLED_S = 5

local M = {}

---@class claude-code.ReloadNotes of a buffer
---@field version? string of its file when it was last compared
---@field emptied? string version of its file that was seen empty
---@field is_outdated? boolean its text is older than Neovim believes: Neovim refused to change it (E565)
---@field is_due? boolean it will be checked again soon
---@field taken_over? integer number of the undo step that last brought in text of the file

---@type table<integer, claude-code.ReloadNotes> by buffer
local notes = vim.defaulttable(function()
  return {}
end)

local function save_views(buf)
  local views = {} ---@type table<integer, table> by window
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return function()
    for win, view in pairs(views) do
      if api.nvim_win_is_valid(win) then
        api.nvim_win_call(win, function()
          vim.fn.winrestview(view)
        end)
      end
    end
  end
end

---Lets Neovim read the whole file, again if it has changed while `:edit` ran, which no watch notices. Does not read a
---file that has just been deleted, which would empty the buffer.
local function read_again(buf)
  local name = api.nvim_buf_get_name(buf)
  local version, read = disk.version(name), nil ---@type string, string?
  for _ = 1, MAX_READS do
    if version == "" or version == read then
      break
    end
    read = version
    local ok = pcall(supply.read, buf, function()
      api.nvim_buf_call(buf, function()
        vim.cmd("silent! keepjumps keepalt edit!")
      end)
    end)
    if not ok then
      return
    end
    version = disk.version(name)
  end
  if read then
    patches.emit_changed(buf)
  end
end

---Changes the lines that differ, again if the file has changed while it was read.
local function patch(buf, text)
  for _ = 1, MAX_READS do
    if not text then
      break
    end
    local ok, message = patches.from_file(buf, text, text.file)
    if not ok and blocked.is_textlock_error(message) then
      notes[buf].is_outdated = true
      return blocked.retry(function()
        M.check(buf)
      end)
    elseif not ok or not checktime.take_time(buf) then
      break
    elseif disk.version(api.nvim_buf_get_name(buf)) == text.version then
      return patches.emit_changed(buf)
    end
    text = file_change.read(buf)
  end
  read_again(buf)
end

---Finds out whether the file has changed since Neovim last compared it. Neovim may already reload it here.
---@return boolean is_newer the buffer still lacks the file's text
---@return claude-code.FileChange? text nil if Neovim must read the whole file
local function compare_text(buf)
  if checktime.has_never_read(buf) then
    return true
  end
  local text, is_newer = nil, notes[buf].is_outdated == true
  local version = disk.version(api.nvim_buf_get_name(buf))
  local is_other = notes[buf].version ~= version
  local bytes, before = nil, {} ---@type string?, string[]
  local ok, differed = pcall(supply.with_text, buf, function()
    return bytes, before
  end, function()
    return checktime.compare(buf, function(is_wanted)
      text = is_wanted and file_change.read(buf) or nil
      -- Neovim would turn an empty file into a line end, and a line end in an empty buffer into two.
      is_newer = is_newer or is_wanted and (text ~= nil or file_change.is_empty(buf))
      bytes = is_wanted and not is_newer and supply.bytes(buf) or nil
      before = api.nvim_buf_get_lines(buf, 0, -1, false)
      return bytes and "edit" or ""
    end)
  end)
  notes[buf].version, notes[buf].is_outdated = ok and version or nil, nil
  if ok and bytes then
    checktime.take_time(buf)
  end
  if is_other and not differed and not vim.bo[buf].modified then
    -- Neovim considers a file unchanged if its time is the same, or exactly one second later (FAT).
    text = file_change.read(buf)
    local is_other_text = text
      and not (
        #text.old == #text.new
        and text.head == #text.old
        and text.endofline == vim.bo[buf].endofline
      )
    is_newer = is_newer or is_other_text or not text and file_change.is_misread(buf)
  end
  return is_newer, is_newer and (text or file_change.read(buf)) or nil
end

---@param before integer number of the previous undo step
local function note_taken_over(buf, before)
  local now = api.nvim_buf_call(buf, vim.fn.changenr)
  notes[buf].taken_over = now > before and now or notes[buf].taken_over
end

local function take_over(buf)
  local restore, undolevels = save_views(buf), vim.bo[buf].undolevels
  local change = api.nvim_buf_call(buf, vim.fn.changenr)
  if not vim.bo[buf].buflisted and change == 0 then
    -- The user has not opened it, so |u| need not bring back the old text.
    vim.bo[buf].undolevels = -1
  end
  local is_newer, text = compare_text(buf)
  if text then
    patch(buf, text)
  else
    if is_newer then
      read_again(buf)
    end
    restore()
  end
  unsaved.close_conflict(buf)
  unsaved.remember_base(buf)
  vim.bo[buf].undolevels = undolevels
  note_taken_over(buf, change)
end

---Checks again later: a program may be writing the file, or the user may be typing in the buffer.
local function check_soon(buf)
  local function check()
    if blocked.may_change() == "nothing" then
      return blocked.retry(check)
    end
    notes[buf].is_due = nil
    M.check(buf)
  end
  if not notes[buf].is_due then
    notes[buf].is_due = true
    timer.once(WRITE_MS, check)
  end
end

local function compare(buf)
  if not checktime.has_never_read(buf) then
    return checktime.compare(buf)
  elseif unsaved.is_stale(buf) then
    return false
  end
  local restore, base = save_views(buf), unsaved.bases[buf]
  local ok = pcall(supply.read, buf, function()
    checktime.note_file(buf)
  end)
  restore()
  unsaved.bases[buf] = base
  return ok
end

local function keep_edits(buf)
  local note, was_stale = notes[buf], unsaved.is_stale(buf)
  note.is_outdated = compare(buf) or note.is_outdated or was_stale or unsaved.is_outdated(buf)
  if not note.is_outdated then
    return
  elseif api.nvim_get_current_buf() == buf and api.nvim_get_mode().mode ~= "n" then
    -- A merge would shift lines under insert mode or a command line with line numbers.
    return check_soon(buf)
  end
  local change = api.nvim_buf_call(buf, vim.fn.changenr)
  local _, problem = unsaved.merge(buf)
  if problem == "locked" then
    return check_soon(buf)
  end
  note.is_outdated = nil
  note_taken_over(buf, change)
  if problem then
    unsaved.open_conflict(buf, problem, function()
      -- If the user undid the edits, the buffer has its old text.
      note.is_outdated = not vim.bo[buf].modified or nil
      check_soon(buf)
    end)
  end
end

---@return boolean is_stale it has edits and lacks newer text of its file, due to a conflict or until the user pauses
function M.is_stale(buf)
  return unsaved.is_stale(buf) or notes[buf].is_outdated == true and vim.bo[buf].modified
end

---Waits a moment for the text, once per emptying: many programs empty a file before they write it.
local function await_text(buf, name)
  local stat, version = uv.fs_stat(name), disk.version(name)
  local is_settled = not stat or stat.size > 0 or os.time() - stat.mtime.sec > SETTLED_S
  if is_settled or notes[buf].emptied == version then
    return
  end
  notes[buf].emptied = version
  local till = uv.hrtime() + EMPTY_NS
  while disk.version(name) == version and uv.hrtime() < till do
    uv.sleep(1)
  end
end

---Brings text that another program wrote into the file's buffer, merged with unsaved edits unless both conflict. Also
---call it before a buffer is entered: then Neovim checks the file itself, and asks the user (W11, W12).
function M.check(buf)
  local name = api.nvim_buf_is_loaded(buf) and path.of_buffer(buf)
  if not name or not uv.fs_stat(name) then
    return
  elseif blocked.in_command_window() then
    return blocked.retry(function()
      M.check(buf)
    end)
  end
  await_text(buf, name)
  if vim.bo[buf].modified then
    keep_edits(buf)
  else
    take_over(buf)
  end
end

---@return boolean was_undone the user has undone the last reload; true only once
function M.was_undone(buf)
  local change, tree = notes[buf].taken_over, api.nvim_buf_call(buf, vim.fn.undotree)
  -- A buffer that was loaded again may have another tree.
  local is_undone = change ~= nil and tree.seq_cur < change and change <= tree.seq_last
  notes[buf].taken_over = not is_undone and change or nil
  return is_undone
end

function M.now(params)
  local buf = path.loaded_buffer(params.path)
  if buf then
    M.check(buf)
  end
end

return M
