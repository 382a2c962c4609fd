--- Whether files may be changed by an edit of many, before Claude learns anything of them.
local api, uv = vim.api, vim.uv
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")

---One call checks for so long, and at least one part of a file; the next call goes on.
local SLICE_MS = 4
local PART_LINES = 1000

local M = {}

---@class claude-code.CheckedFile
---@field path string
---@field problem? "private"|"outside"|"unsaved"|"version" why it may not be changed
---@field tick? integer of its loaded buffer
---@field parts? { size: integer, digest: string }[] of that buffer's text, as it was read: bytes, SHA-256

---@param row integer
---@param is_over fun(): boolean
---@return { size: integer, digest: string }[]
---@return integer? next_row nil behind the last part
local function parts_of(buf, row, is_over)
  local parts, count = {}, api.nvim_buf_line_count(buf)
  repeat
    local part = lines.bytes(buf, row, row + PART_LINES, true)
    parts[#parts + 1] = { size = #part, digest = vim.fn.sha256(part) }
    row = row + PART_LINES
  until row >= count or is_over()
  return parts, row < count and row or nil
end

---@param edit { path: string, version?: integer }
---@param folders string[]
---@param row integer from which the parts are wanted
---@param is_over fun(): boolean
---@param by_user boolean
---@return claude-code.CheckedFile
---@return integer? next_row
local function check(edit, folders, row, is_over, by_user)
  local privacy = require("claude-code.editor.privacy")
  local buf, real = path.loaded_buffer(edit.path), path.real(edit.path)
  local file = { path = edit.path }
  if not by_user and (privacy.is_private(edit.path) or (buf and privacy.hides(buf))) then
    file.problem = "private"
  elseif not by_user and not path.is_in_any(real, folders) or real:find("/.git/", 1, true) then
    file.problem = "outside"
  elseif buf and vim.bo[buf].modified then
    file.problem = "unsaved"
  elseif buf and edit.version and edit.version ~= vim.lsp.util.buf_versions[buf] then
    file.problem = "version"
  elseif buf then
    file.tick = api.nvim_buf_get_changedtick(buf)
    if by_user then
      return file -- it follows the disk, which may hold what no buffer shows: a picture, a deleted file
    end
    local parts, next_row = parts_of(buf, row, is_over)
    file.parts = parts
    return file, next_row
  end
  return file
end

---@class claude-code.CheckParams
---@field edits { path: string, version?: integer }[] `version`: that of the text for which the server made
--- its edits, as Neovim sent it
---@field row integer of the first file, where an earlier call ended; else 0
---@field by_user boolean it is the user who changes them: private ones, and others, as well

---Checks as many files as a moment allows.
---@param params claude-code.CheckParams
---@return { files: claude-code.CheckedFile[], next_row?: integer } the first of them; `next_row`: where to
--- go on in the last
function M.run(params)
  local folders = require("claude-code.lib.workspace").folders()
  local stop, files, row = uv.hrtime() + SLICE_MS * 1e6, {}, params.row ---@type number, table, integer?
  local function is_over()
    return uv.hrtime() > stop
  end
  for _, edit in ipairs(params.edits) do
    files[#files + 1], row = check(edit, folders, row or 0, is_over, params.by_user)
    if is_over() then
      break
    end
  end
  return { files = files, next_row = row }
end

return M
