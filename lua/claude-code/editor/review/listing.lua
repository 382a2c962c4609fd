--- What there is to review, as the executable listed it last: files, and their hunks. Those of the open review,
--- or else all that wait for one.
local api = vim.api
local counted = require("claude-code.lib.text").count
local file_lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local requests = require("claude-code.server.requests")
local text = require("claude-code.editor.review.buffer_text")
local visible = require("claude-code.lib.text").visible

--- The buffers with the base text of a file: what stood there before Claude's unreviewed changes. A deleted file
--- is read there before it is brought back. One that is binary has words there.
local SCHEME = "claude-code://base"

local M = {
  --- Whose edits conflict with a hunk.
  WHOSE = { user = "your", claude = "Claude's later" },
  review = nil, ---@type claude-code.OpenReview?
  files = {}, ---@type claude-code.ReviewFile[] in order of their paths
  by_path = {}, ---@type table<string, claude-code.ReviewFile> by absolute paths
}

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
---@field conflict? "user"|"claude" whose later edits conflict: the user's, or Claude's outside of the scope
---@field ends? string what differs where no character does: the last newline, line ends, a byte order mark
---@field owners claude-code.ReviewOwner[]
---@field in_parts? boolean all lines of a file that was moved: only those that differ are drawn
---@field code? string bytes of its first line that is not blank; only in the list
---@field old_lines? string[] bytes; only of a file that was asked for by itself
---@field new_lines? string[]

---@class claude-code.ReviewMode permission bits that Claude changed
---@field before integer
---@field after integer
---@field owners claude-code.ReviewOwner[]

---@class claude-code.ReviewFile
---@field path string absolute
---@field kind "changed"|"created"|"deleted"|"renamed"|"binary"|"mode"|"symlink"|"unseen"
---@field binary? boolean its bytes are no text, or it is a symlink
---@field from? string
---@field same_text? boolean a renamed file has the text of the other one
---@field hunk_count integer
---@field hunks claude-code.ReviewHunk[] the first one alone where the list would be too long
---@field mode? claude-code.ReviewMode in a "changed" file it is decided beside the hunks
---@field owners claude-code.ReviewOwner[]
---@field cannot_undo? string why the whole file cannot be undone
---@field version string another one for another file, or other hunks
---@field number? integer in the list

---@class claude-code.ReviewScope
---@field scope "turn"|"session"|"all"|"unreviewed"
---@field session? string
---@field paths? string[]

---@type claude-code.ReviewScope
local UNREVIEWED = { scope = "unreviewed" }

---@class claude-code.OpenReview
---@field scope claude-code.ReviewScope
---@field keys claude-code.Key[] of its files and its list
---@field jumps boolean to the first entry as soon as there is one
---@field is_listed? boolean its first list has come

---@class claude-code.ReviewList
---@field version string
---@field files claude-code.ReviewFile[]
---@field counts claude-code.ReviewCounts of all files
---@field incomplete string[] sentences
---@field damage string[] sentences on journals, to be said once
---@field ignored integer files that the option `review.ignore` leaves out
---@field unwritten integer changes that only unsaved text undoes, in projects without any other

---@class claude-code.ReviewListing
---@field by_buffer table<string, claude-code.ReviewFile|false> by 'buftype' and name: what was looked up
---@field answer? claude-code.ReviewList that was taken last
---@field asked integer number of the last question
---@field answered integer number of the question whose answer was taken last
local listing = { by_buffer = {}, asked = 0, answered = 0 }

---@return claude-code.ReviewScope of the review, or else all that waits for one
function M.scope()
  return M.review and M.review.scope or UNREVIEWED
end

---@return integer files that the list has no room for
function M.unlisted()
  return listing.answer and listing.answer.counts.files - #M.files or 0
end

---@param before string words
---@return string words about the files that the option `review.ignore` leaves out; none without any
function M.ignored(before)
  local count = listing.answer and listing.answer.ignored or 0
  return count > 0 and before .. counted(count, "ignored file") .. " (review.ignore)" or ""
end

---@return string? sentence about changes that only unsaved buffers undo, where nothing else is listed
function M.unwritten()
  local count = listing.answer and listing.answer.unwritten or 0
  local words =
    "what is left to review (%s) is undone in unsaved buffers only; :wa undoes it on disk"
  return count > 0 and words:format(counted(count, "change")) or nil
end

---@param buf integer
---@return claude-code.ReviewFile?
function M.of_buffer(buf)
  if #M.files == 0 then
    return nil
  end
  -- This is asked for each move of the cursor, and a disk may be slow.
  local key = vim.bo[buf].buftype .. ":" .. api.nvim_buf_get_name(buf)
  local found = listing.by_buffer[key]
  if found == nil then
    local name = path.of_buffer(buf)
    found = name and (M.by_path[name] or M.by_path[path.real(name)]) or false
    listing.by_buffer[key] = found
  end
  return found or nil
end

---The buffer of a deleted file keeps its text, and a renamed one may have the text of before: nothing in
---them is Claude's.
---@param buf integer
---@return claude-code.ReviewFile? file of such a buffer
function M.without_hunks(buf)
  local file = M.of_buffer(buf)
  return file and (file.kind == "deleted" or file.same_text) and file or nil
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

---Asks for the list again, in a task. An answer that comes behind that of a later question changes nothing.
---@return claude-code.ReviewList?
---@return string? problem
function M.refresh()
  local known = listing.answer
  local params = { texts = M.unsaved(), known = known and known.version }
  params = vim.tbl_extend("force", params, M.scope())
  listing.asked = listing.asked + 1
  local number = listing.asked
  local value, problem = requests.await("review/list", params)
  if not value then
    return nil, problem
  end
  value = value.unchanged and known or value
  if number > listing.answered then
    listing.answered, listing.answer = number, value
    M.files, M.by_path, listing.by_buffer = value.files, {}, {}
    for i, file in ipairs(value.files) do
      file.number = i
      M.by_path[file.path] = file
    end
  end
  return value
end

---@param file claude-code.ReviewFile
---@return string
function M.binary_words(file)
  local target = vim.uv.fs_readlink(file.path)
  if target then
    return "symlink to " .. visible(target)
  elseif file.kind == "symlink" then
    return "was a symlink"
  end
  local stat = vim.uv.fs_stat(file.path)
  return stat and ("binary file, %.1f kB"):format(stat.size / 1000) or "binary file"
end

---@param file claude-code.ReviewFile
---@return string name of the buffer in which it is shown
function M.shown_name(file)
  return (file.kind == "deleted" or file.binary) and SCHEME .. file.path or file.path
end

local function fill_base(buf, bytes, problem)
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  local shown = bytes or problem or "there is nothing to review in this file"
  -- While the cursor is in the list, too, it is nothing for a language server.
  local buftype = vim.bo[buf].buftype
  vim.bo[buf].buftype, vim.bo[buf].modifiable = "nofile", true
  api.nvim_buf_set_lines(buf, 0, -1, false, file_lines.parse(shown).lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
  local filetype =
    vim.filetype.match({ buf = buf, filename = api.nvim_buf_get_name(buf):sub(#SCHEME + 1) })
  if filetype then
    require("claude-code.editor.documents.parsing").set_filetype(buf, filetype)
  end
  vim.bo[buf].buftype = buftype
end

---Loads such a buffer (BufReadCmd).
---@param buf integer
function M.load_base(buf)
  -- It is read again for another review.
  local options = { buftype = "nofile", bufhidden = "unload", swapfile = false, modifiable = false }
  for option, value in pairs(options) do
    vim.bo[buf][option] = value
  end
  local file = api.nvim_buf_get_name(buf):sub(#SCHEME + 1)
  requests.request("review/base", { path = file }, function(value, problem)
    local listed = M.by_path[file]
    local words = listed and listed.binary and M.binary_words(listed) or nil
    fill_base(buf, words or value and value.text, problem)
  end)
end

---@param buf integer
---@return string? file whose base text it holds
function M.base_file(buf)
  local name = api.nvim_buf_get_name(buf)
  return vim.startswith(name, SCHEME .. "/") and name:sub(#SCHEME + 1) or nil
end

return M
