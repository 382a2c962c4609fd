--- Whether files may be changed by a language server's edit, before the executable reads any of them.
local path = require("claude-code.editor.documents.path")
local text = require("claude-code.editor.documents.text")

local M = {}

---@class claude-code.CheckedFile
---@field path string
---@field problem? "private"|"outside"|"unsaved"|"version" why it may not be changed
---@field tick? integer of its loaded buffer
---@field digest? string SHA-256 of that buffer's text, as it was read

---@param real string
---@param folders string[]
---@return boolean
local function is_inside(real, folders)
  return vim.iter(folders):any(function(folder)
    return vim.startswith(real, folder:gsub("[/\\]?$", "/"))
  end) and not real:find("/.git/", 1, true)
end

---@param edit { path: string, version?: integer }
---@param folders string[]
---@return claude-code.CheckedFile
local function check(edit, folders)
  local privacy = require("claude-code.editor.privacy")
  local buf = path.loaded_buffer(edit.path)
  local file = { path = edit.path }
  if privacy.is_private(edit.path) or (buf and privacy.hides(buf)) then
    file.problem = "private"
  elseif not is_inside(path.real(edit.path), folders) then
    file.problem = "outside"
  elseif buf and vim.bo[buf].modified then
    file.problem = "unsaved"
  elseif buf and edit.version and edit.version ~= vim.lsp.util.buf_versions[buf] then
    file.problem = "version"
  elseif buf then
    file.tick = vim.api.nvim_buf_get_changedtick(buf)
    file.digest = vim.fn.sha256(text.of(buf, true))
  end
  return file
end

---@param params { edits: { path: string, version?: integer }[] } `version`: that of the text for
---which the server made its edits, as Neovim sent it
---@return { files: claude-code.CheckedFile[] }
function M.run(params)
  local folders = require("claude-code.workspace").folders()
  return {
    files = vim.tbl_map(function(edit)
      return check(edit, folders)
    end, params.edits),
  }
end

return M
