--- What there is to review, as the executable listed it last: files, and their hunks.
local api = vim.api
local client = require("claude-code.editor.review.client")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local scopes = require("claude-code.editor.review.scope")
local text = require("claude-code.editor.review.text")

local M = {}

---@class claude-code.ReviewOwner a call of a tool that made a hunk
---@field session string
---@field turn? integer of the session, from 1
---@field prompt? string
---@field agent? string
---@field tool string
---@field command? string
---@field at integer ms since the epoch

---@class claude-code.ReviewHunk rows from 1; a side without rows has the row above
---@field id string
---@field old [integer, integer] first row and count in the base text
---@field new [integer, integer] in the present text
---@field added integer
---@field removed integer
---@field mixed boolean
---@field conflict boolean
---@field queued boolean
---@field owners claude-code.ReviewOwner[]
---@field in_parts? boolean all lines of a file that was moved: only those that differ are drawn
---@field old_lines? string[] bytes; only of a file that was asked for by itself
---@field new_lines? string[]

---@class claude-code.ReviewMode permission bits that Claude changed
---@field before integer
---@field after integer
---@field queued boolean
---@field owners claude-code.ReviewOwner[]

---@class claude-code.ReviewFile
---@field path string absolute
---@field kind "changed"|"created"|"deleted"|"renamed"|"binary"|"mode"|"unseen"
---@field from? string
---@field same_text? boolean a renamed file has the text of the other one
---@field hunk_count integer
---@field hunks claude-code.ReviewHunk[] the first one alone where the list would be too long
---@field mode? claude-code.ReviewMode in a "changed" file it is decided beside the hunks
---@field owners claude-code.ReviewOwner[]
---@field queued boolean all of it, or a part, is undone when Claude's turn ends
---@field cannot_undo? string why the whole file cannot be undone
---@field version? string of a file that was asked for by itself: another one for another answer

local listed = {} ---@type claude-code.ReviewFile[]
local by_path = {} ---@type table<string, claude-code.ReviewFile>
local asked, answered = 0, 0 ---@type integer, integer number of the last question, and of the last answer taken
local last = {} ---@type { version?: string, incomplete?: string[] } of the last answer taken
local fetched = {} ---@type table<integer, claude-code.ReviewFile> by buffer, as the executable gave it last
local expanded = {} ---@type table<string, true> files whose hunks are listed however many there are

---@return claude-code.ReviewFile[] in order of their paths
function M.all()
  return listed
end

---@param buf integer
---@return claude-code.ReviewFile?
function M.of_buffer(buf)
  if next(by_path) == nil then
    return nil -- at once: this is asked for each key
  end
  local name = path.of_buffer(buf)
  return name and (by_path[name] or by_path[path.real(name)]) or nil
end

---The buffer of a deleted file keeps its text, and a renamed one may have the text of before: nothing in
---them is Claude's.
---@param buf integer
---@return claude-code.ReviewFile? file of such a buffer
function M.without_hunks(buf)
  local file = M.of_buffer(buf)
  return file and (file.kind == "deleted" or file.same_text) and file or nil
end

---A long list has one entry for a file. Does the next list have all hunks of the buffer's?
---@param buf integer
---@return boolean it does, and the last one does not
function M.expand(buf)
  local file = M.of_buffer(buf)
  if not file or #file.hunks == file.hunk_count or expanded[file.path] then
    return false
  end
  expanded[file.path] = true
  return true
end

---@param name string absolute
---@return claude-code.ReviewFile?
function M.of_path(name)
  return by_path[name]
end

---@param file claude-code.ReviewFile?
---@return integer number in the list; 0 if it is not there
function M.number(file)
  for i, other in ipairs(listed) do
    if other == file then
      return i
    end
  end
  return 0
end

---Texts that the disk does not have.
---@return { path: string, text: claude-code.ReviewText }[]
function M.unsaved()
  local texts = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified and path.of_buffer(buf)
    local sent = name and text.of(buf)
    if sent then
      texts[#texts + 1] = { path = path.real(name), text = sent }
    end
  end
  return texts
end

---Asks for the list again. An answer that comes behind that of a later question changes nothing.
---@param callback fun(problem: string?, incomplete: string[]?)
function M.refresh(callback)
  local params = { texts = M.unsaved(), expanded = vim.tbl_keys(expanded), known = last.version }
  params = vim.tbl_extend("force", params, scopes.current())
  asked = asked + 1
  local number = asked
  client.request("list", params, function(value, problem)
    if not value then
      return callback(problem)
    elseif value.unchanged and last.version ~= params.known then
      return M.refresh(callback) -- the answer to another question came in between
    elseif number > answered and value.unchanged then
      answered = number
    elseif number > answered then
      answered, listed, by_path, last = number, value.files, {}, value
      for _, file in ipairs(listed) do
        by_path[file.path] = file
      end
    end
    callback(nil, value.incomplete or last.incomplete)
  end)
end

---The next list is as short as it was at first.
function M.collapse()
  expanded = {}
end

---Asks for the hunks of a buffer's text, with their lines.
---@param buf integer
---@param callback fun(file: claude-code.ReviewFile?, problem: string?) nil: nothing to review, or
--- nothing that the buffer has, since its unsaved edits are older
function M.fetch(buf, callback)
  local name, tick = path.of_buffer(buf), api.nvim_buf_get_changedtick(buf)
  if not name or reload.is_stale(buf) or M.without_hunks(buf) then
    return callback(nil)
  end
  local params, scope = { path = path.real(name), text = text.of(buf) }, scopes.current()
  params.scope, params.session = scope.scope, scope.session
  local before = fetched[buf]
  params.known = before and before.version
  client.request("file", params, function(value, problem)
    if not api.nvim_buf_is_valid(buf) then
      fetched[buf] = nil
      return
    end
    if value and value.unchanged then
      value = before
    elseif not problem then
      fetched[buf] = value
    end
    if api.nvim_buf_get_changedtick(buf) == tick then
      callback(value, problem)
    end
  end)
end

return M
