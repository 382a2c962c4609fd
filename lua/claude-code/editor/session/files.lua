--- The files that a Claude session has edited, open in Neovim so that language servers see them.
local baseline = require("claude-code.editor.session.baseline")
local hidden = require("claude-code.editor.diagnostics.hidden")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")
local writes = require("claude-code.editor.diagnostics.writes")

---One call loads closed files for so long, and at least one; the next call goes on.
local BATCH_MS = 10

local M = {}

---@param session claude-code.Session
---@param real string
---@return integer? buf hidden; nil if the file cannot be loaded, or is too big
local function load(session, real)
  local stat = vim.uv.fs_stat(real)
  if not stat or stat.size > hidden.MOST_BYTES then
    return nil
  end
  local buf = require("claude-code.editor.documents").load_hidden({ path = real })
  if buf then
    session.hidden[buf] = true
    writes.on_write(buf, "opened")
  end
  return buf
end

---@param session claude-code.Session
---@param real string
---@param created boolean
local function show_to_servers(session, real, created)
  local open = path.loaded_buffer(real)
  if created or not open then
    baseline.on_unseen_write(real, created)
  end
  if not open then
    load(session, real)
    return
  end
  require("claude-code.editor.documents.reload").now({ path = real })
  if not vim.bo[open].modified then
    require("claude-code.editor.diagnostics.requests").did_save(open)
  end
end

---The session has edited a file: its buffer shows that, and language servers see it.
---@param session claude-code.Session
---@param real string real path
---@param created boolean the edit made the file
function M.edited(session, real, created)
  show_to_servers(session, real, created)
  local before = baseline.before(real)
  local file = session.files[real] or { before = before }
  file.edited = before
  file.unchecked, file.unknown, file.late = nil, nil, nil
  session.files[real] = file
end

---The buffer of an edited file; nil if it is private, gone or closed.
---@param real string real path
---@return integer? buf
function M.open_buffer(real)
  local private = require("claude-code.editor.privacy").is_private(real)
  return not private and vim.uv.fs_stat(real) and path.loaded_buffer(real) or nil
end

---@class claude-code.EditedFile
---@field path string
---@field items claude-code.Diagnostic[]
---@field file claude-code.SessionFile
---@field is_attaching boolean a language server may still be started for it
---@field is_pending boolean a report of a language server on it is
---@field missing claude-code.MissingReport[]

---Without private files and those that are gone. Files that were closed since are loaded again: their
---problems are there still, and servers report on them later.
---@param session claude-code.Session
---@return claude-code.EditedFile[] sorted by path
---@return boolean settled no report of a language server on them is pending that is waited for
---@return boolean is_loading some are not in the list yet: the next call loads more
function M.list(session)
  local list, settled, is_loading = {}, true, false
  local privacy = require("claude-code.editor.privacy")
  local stop, has_loaded = vim.uv.hrtime() + BATCH_MS * 1e6, false
  for real, file in pairs(session.files) do
    local present = vim.uv.fs_stat(real) and not privacy.is_private(real)
    local open = present and path.loaded_buffer(real) or nil
    local buf = open
    if present and not open and has_loaded and vim.uv.hrtime() > stop then
      is_loading = true
    elseif present and not open then
      buf, has_loaded = load(session, real), true
    end
    if buf then
      writes.expect_starting(buf)
      local is_attaching = writes.is_attaching(buf)
      local edited = {
        path = real,
        items = require("claude-code.editor.diagnostics").items(buf),
        file = file,
        is_attaching = is_attaching,
        is_pending = not open or is_attaching or pending.is_pending(buf),
        missing = pending.missing(buf),
      }
      list[#list + 1] = edited
      settled = settled and (file.unchecked or not edited.is_pending)
    end
  end
  table.sort(list, function(a, b)
    return a.path < b.path
  end)
  return list, settled and not is_loading, is_loading
end

return M
