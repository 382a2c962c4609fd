--- Loads files that the user has not opened, so that linters and language servers see them. They stay out of `:ls`, and
--- their buffers are deleted once no client needs them.
local api = vim.api
local documents = require("claude-code.editor.documents")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")

---Number of files without an owner; the least recently used is deleted first.
local MAX_KEPT = 50
---Loading this many bytes blocks Neovim for about 20 ms.
local MAX_BYTES = 2 * 1024 * 1024

---How long a file is kept after its last use.
local M = { KEEP_MS = 10 * 60 * 1000 }

---@class claude-code.BackgroundFile
---@field buf integer
---@field is_new boolean the buffer was made here; an older one is only unloaded, since it has marks
---@field till number time of uv.now() until which it is kept
---@field owners table<any, true> it is also kept until each owner has released it

local files = {} ---@type table<integer, claude-code.BackgroundFile> by buffer
local cancel_review = function() end

---Deletes the buffer of a file, unless the user has begun to use it.
local function drop(file)
  local buf = file.buf
  files[buf] = nil
  local is_unused = api.nvim_buf_is_loaded(buf)
    and not vim.bo[buf].buflisted
    and not vim.bo[buf].modified
    and #vim.fn.win_findbuf(buf) == 0
  if is_unused then
    pcall(api.nvim_buf_delete, buf, { unload = not file.is_new })
  end
end

---Deletes expired files, one at a time, since a deletion may take a language server some time.
local function review()
  local unowned = vim.tbl_filter(function(file)
    return not next(file.owners)
  end, vim.tbl_values(files))
  table.sort(unowned, function(a, b)
    return a.till < b.till
  end)
  local oldest, now = unowned[1], vim.uv.now()
  local is_due = oldest and (oldest.till <= now or #unowned > MAX_KEPT)
  if is_due then
    drop(oldest)
  end
  cancel_review()
  cancel_review = oldest and timer.once(is_due and 1 or oldest.till - now, review) or function() end
end

local function review_soon()
  cancel_review()
  cancel_review = timer.once(0, review)
end

---@param name string in normal form
---@param folders? string[] of the workspace, if the caller has them
function M.is_in_workspace(name, folders)
  return path.is_in_any(path.real(name), folders or require("claude-code.lib.workspace").folders())
end

---@param name string in normal form; not loaded
---@return integer? buf, string? failure
function M.load(name)
  local stat = vim.uv.fs_stat(name)
  if not stat then
    return nil
  elseif require("claude-code.editor.documents.scope").current() then
    local text =
      "%s is not open in Neovim, and nothing is loaded for a Claude elsewhere: ask the user to open it"
    return nil, text:format(path.title(name))
  elseif stat.size > MAX_BYTES then
    return nil, path.too_big(name, stat.size, MAX_BYTES) .. ", unless you open it yourself"
  end
  local is_new, till = path.buffer(name) == nil, vim.uv.now() + M.KEEP_MS
  local buf = documents.load(name, true)
  if buf then
    files[buf] = { buf = buf, is_new = is_new, owners = {}, till = till }
    review_soon()
  end
  return buf
end

function M.keep(buf)
  local file = files[buf]
  if file then
    file.till = vim.uv.now() + M.KEEP_MS
  end
end

---Keeps a file until its owner releases it, and no longer.
function M.own(buf, owner)
  local file = files[buf]
  if file then
    file.owners[owner], file.till = true, 0
  end
end

function M.release(owner)
  for _, file in pairs(files) do
    file.owners[owner] = nil
  end
  review_soon()
end

---Deletes the buffer of a file that was deleted on disk, if it was loaded here.
---@param name string in normal form
function M.on_deleted(name)
  local file = files[path.buffer(name)]
  if file then
    drop(file)
  end
end

return M
