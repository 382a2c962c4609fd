--- Puts the new texts of files into place, which the executable has written beside them: all at once,
--- while the user cannot type, and only if everything still is as the executable has seen it.
local api, uv = vim.api, vim.uv
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")

local M = {}

---@class claude-code.CommitFile
---@field path string real path
---@field draft? string the file that takes its place; nil: the file goes
---@field in_place? boolean the draft's bytes go into the file, which has several names
---@field from? string the path that it is moved from
---@field stamp? integer[] size, and seconds and nanoseconds of its time; nil: there is no file
---@field tick? integer of its buffer; nil: none has it loaded

---@param file claude-code.CommitFile
---@param buf integer?
local function is_unchanged(file, buf)
  local stat, tick = uv.fs_lstat(file.path), buf and api.nvim_buf_get_changedtick(buf)
  local stamp = stat and { stat.size, stat.mtime.sec, stat.mtime.nsec }
  local is_clean = not buf or not vim.bo[buf].modified
  return is_clean and tick == file.tick and vim.deep_equal(stamp, file.stamp)
end

---@param file claude-code.CommitFile
---@return string? problem
local function put_into_place(file)
  local ok, message
  if not file.draft then
    ok, message = uv.fs_unlink(file.path)
  elseif file.in_place then
    ok, message = uv.fs_copyfile(file.draft, file.path)
  else
    ok, message = uv.fs_rename(file.draft, file.path)
  end
  return not ok and message or nil
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

---@param files claude-code.CommitFile[]
---@param bufs table<string, integer> by path
local function update_buffers(files, bufs)
  local moved = {} ---@type table<string, string>
  for _, file in ipairs(files) do
    if file.from and bufs[file.from] and not bufs[file.path] then
      moved[file.from] = file.path
    end
  end
  for _, file in ipairs(files) do
    local buf = bufs[file.path]
    if buf and moved[file.path] then
      move_buffer(buf, moved[file.path])
    elseif buf and not file.draft then
      reload.note_deleted(buf)
    elseif buf then
      reload.check(buf)
    end
  end
end

---@param params { ready: string, edits: claude-code.CommitFile[] } `ready`: a file that only one of
---us and the executable can remove; then the other does nothing
---@return nil
---@return claude-code.Failure?
function M.run(params)
  local bufs = {}
  for _, file in ipairs(params.edits) do
    bufs[file.path] = path.loaded_buffer(file.path)
    if not is_unchanged(file, bufs[file.path]) then
      local text = "%s was changed in the meantime. Nothing was changed; try again."
      return nil, { code = "changed", message = text:format(file.path) }
    end
  end
  if not uv.fs_unlink(params.ready) then
    return nil, "Neovim was busy for too long. Nothing was changed; try again."
  end
  for _, file in ipairs(params.edits) do
    local problem = put_into_place(file)
    if problem then
      local text = "%s cannot be written: %s. Nothing was changed."
      return nil, { code = "not_written", message = text:format(file.path, problem) }
    end
  end
  update_buffers(params.edits, bufs)
end

return M
