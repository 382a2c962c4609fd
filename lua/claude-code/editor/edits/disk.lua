--- Writes the new texts of files while the user cannot type, if everything is still as it was read, and lets buffers
--- follow.
local api, uv = vim.api, vim.uv
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")
local reload = require("claude-code.editor.documents.reload")

local M = {}

---Root may write what no one may: the user made it read-only all the same.
---@param name string
---@param stat uv.fs_stat.result?
---@return boolean
function M.is_writable(name, stat)
  local is_closed = stat and (bit.band(stat.mode, 146) == 0 or not uv.fs_access(name, "W")) -- 0222
  local folder = vim.fs.dirname(name)
  return not is_closed and (not uv.fs_stat(folder) or uv.fs_access(folder, "W") == true)
end

---@param file claude-code.AppliedFile
local function is_unchanged(file)
  local buf, name = path.loaded_buffer(file.path), file.path
  return (uv.fs_lstat(name) ~= nil) == (file.stat ~= nil)
    -- The time of a file says nothing about a write in the same moment.
    and regular_file.read(name, math.huge) == file.before
    and (buf and api.nvim_buf_get_changedtick(buf)) == file.tick
    and not (buf and vim.bo[buf].modified)
    -- No folder on the way has become a link since.
    and path.real(name) == name
end

---The new text beside the file, with its mode and owner, under the name that src/lib/drafts.ts knows.
---@param file claude-code.AppliedFile
---@return string? draft
---@return string? problem
local function write_draft(file)
  local folder = vim.fs.dirname(file.path)
  local model = file.stat or (file.from and uv.fs_lstat(file.from))
  local draft = ("%s/.claude-code-nvim.%s.tmp"):format(
    folder,
    require("claude-code.lib.uuid")():sub(1, 8)
  )
  vim.fn.mkdir(folder, "p")
  local mode = model and bit.band(model.mode, 511) or 438 -- 0777, 0666
  local handle, problem = uv.fs_open(draft, "wx", mode)
  if not handle then
    return nil, problem
  end
  local ok, failure = uv.fs_write(handle, file.after, 0)
  if ok and model then
    uv.fs_fchmod(handle, mode)
    uv.fs_fchown(handle, model.uid, model.gid)
  end
  uv.fs_close(handle)
  if ok ~= #file.after then
    uv.fs_unlink(draft)
    return nil, failure or "it is cut off"
  end
  return draft
end

---@param file claude-code.AppliedFile
---@param draft string?
---@return string? problem
local function put_into_place(file, draft)
  if not draft then
    return select(2, uv.fs_unlink(file.path))
  end
  local stat = uv.fs_lstat(file.path)
  if stat and (stat.nlink > 1 or stat.uid ~= uv.fs_lstat(draft).uid) then
    -- Its other names, and its owner, stay.
    return select(2, uv.fs_copyfile(draft, file.path))
  end
  return select(2, uv.fs_rename(draft, file.path))
end

---@param keep integer
local function delete_buffers_named(name, keep)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= keep and api.nvim_buf_get_name(buf) == name then
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end
end

---Language servers see the old file closed and the new one opened.
---@param buf integer loaded, without unsaved changes
---@param name string the new one; no loaded buffer has it
local function move_buffer(buf, name)
  local old = api.nvim_buf_get_name(buf)
  local clients = require("claude-code.lib.lsp").clients({ bufnr = buf })
  for _, client in ipairs(clients) do
    vim.lsp.buf_detach_client(buf, client.id)
  end
  delete_buffers_named(name, buf)
  api.nvim_buf_call(buf, function()
    local mods = { silent = true, keepalt = true }
    vim.cmd.file({ name, magic = { file = false }, mods = mods })
  end)
  -- Neovim made one for the old name.
  delete_buffers_named(old, buf)
  reload.check(buf)
  for _, client in ipairs(clients) do
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

---@param files claude-code.AppliedFile[] whose changes are on disk
local function update_buffers(files)
  local bufs, moved = {}, {} ---@type table<string, integer?>, table<string, string>
  for _, file in ipairs(files) do
    bufs[file.path] = file.buf
  end
  for _, file in ipairs(files) do
    if file.from and bufs[file.from] and not file.buf then
      moved[file.from] = file.path
    end
  end
  for _, file in ipairs(files) do
    if file.buf and moved[file.path] then
      move_buffer(file.buf, moved[file.path])
    elseif file.buf and not file.after then
      reload.note_deleted(file.buf)
    elseif file.buf then
      reload.check(file.buf)
    end
  end
end

---@param files claude-code.AppliedFile[]
---@return claude-code.AppliedFile[] done those that are changed
---@return string? problem why not all are
function M.write(files)
  for _, file in ipairs(files) do
    if not is_unchanged(file) then
      return {}, path.title(file.path) .. " was changed in the meantime. Try again."
    end
  end
  local drafts, done, problem = {}, {}, nil ---@type table<string, string>, claude-code.AppliedFile[], string?
  ---@param step fun(file: claude-code.AppliedFile): string? problem
  local function each(step)
    for _, file in ipairs(problem and {} or files) do
      local failure = step(file)
      if failure then
        problem = ("%s cannot be written: %s."):format(path.title(file.path), failure)
        return
      end
    end
  end
  -- A full disk is noticed before the first file changes.
  each(function(file)
    local failure
    if file.after then
      drafts[file.path], failure = write_draft(file)
    end
    return failure
  end)
  each(function(file)
    local failure = put_into_place(file, drafts[file.path])
    done[#done + 1] = not failure and file or nil
    return failure
  end)
  for _, draft in pairs(drafts) do
    uv.fs_unlink(draft)
  end
  update_buffers(done)
  return done, problem
end

return M
