--- Writes the new texts of files while the user cannot type, if everything is still as it was read, and lets buffers
--- follow.
local api, uv = vim.api, vim.uv
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")
local reload = require("claude-code.editor.documents.reload")

local M = {}

local function is_unchanged(file)
  local buf, name = path.loaded_buffer(file.path), file.path
  -- The time of a file says nothing about a write in the same moment.
  return regular_file.read(name, math.huge) == file.before
    and (buf and api.nvim_buf_get_changedtick(buf)) == file.tick
    and not (buf and vim.bo[buf].modified)
    -- No folder on the way has become a link since.
    and path.real(name) == name
end

---The new text beside the file, with its mode and owner, under the name that src/lib/atomic-write.ts knows.
local function write_draft(file)
  local id = require("claude-code.lib.uuid")():sub(1, 8)
  local draft = ("%s/.claude-code-nvim.%s.tmp"):format(vim.fs.dirname(file.path), id)
  local mode = bit.band(file.stat.mode, 511) -- 0777
  local handle, problem = uv.fs_open(draft, "wx", mode)
  if not handle then
    return nil, problem
  end
  local written, failure = uv.fs_write(handle, file.after, 0)
  uv.fs_fchmod(handle, mode)
  uv.fs_fchown(handle, file.stat.uid, file.stat.gid)
  uv.fs_close(handle)
  if written ~= #file.after then
    uv.fs_unlink(draft)
    return nil, failure or "it is cut off"
  end
  return draft
end

local function put_into_place(file, draft)
  local stat = uv.fs_lstat(file.path)
  if stat and (stat.nlink > 1 or stat.uid ~= uv.fs_lstat(draft).uid) then
    -- Its other names, and its owner, stay.
    return select(2, uv.fs_copyfile(draft, file.path))
  end
  return select(2, uv.fs_rename(draft, file.path))
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
    drafts[file.path], failure = write_draft(file)
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
  for _, file in ipairs(done) do
    if file.buf then
      reload.check(file.buf)
    end
  end
  return done, problem
end

return M
