--- Files of the workspace that nobody has open and a client asks about: they are loaded, so that
--- linters and language servers see them, and stay out of `:ls`. Only those with diagnostics are kept.
local api = vim.api
local documents = require("claude-code.editor.documents")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.timer")

---One call loads files for so long, and at least one; the next call goes on.
local BATCH_MS = 10
---The more a file has, the longer Neovim stands still: 2 MB take some 20 ms.
local MOST_BYTES = 2 * 1024 * 1024
local MOST_KEPT = 50
---Linters that run as programs have so long to report.
local KEEP_MS = 10000

local M = {}

local kept = {} ---@type { buf: integer, is_new: boolean }[] oldest first
local cancel_release = function() end

---@param i integer
local function drop(i)
  local entry = table.remove(kept, i)
  documents.unload_hidden(entry.buf, entry.is_new)
end

---Deletes what has no diagnostics, one buffer at a time: each may take a language server's time.
local function release()
  for i, entry in ipairs(kept) do
    if not api.nvim_buf_is_loaded(entry.buf) or not next(vim.diagnostic.count(entry.buf)) then
      drop(i)
      cancel_release = timer.once(1, release)
      return
    end
  end
end

---@param name string in normal form
---@return boolean
local function is_in_workspace(name)
  local real = path.real(name)
  return vim.iter(require("claude-code.workspace").folders()):any(function(folder)
    return vim.startswith(real, folder .. "/")
  end)
end

---@param name string in normal form
---@return integer? buf
---@return string? failure
local function load(name)
  local stat = vim.uv.fs_stat(name)
  if not stat or not is_in_workspace(name) then
    return nil
  elseif stat.size > MOST_BYTES then
    return nil, path.too_big(name, stat.size, MOST_BYTES) .. ", unless you open it yourself"
  end
  local is_new = path.buffer(name) == nil
  local buf = documents.load_hidden({ path = name })
  if buf then
    kept[#kept + 1] = { buf = buf, is_new = is_new }
    if #kept > MOST_KEPT then
      drop(1)
    end
    cancel_release()
    cancel_release = timer.once(KEEP_MS, release)
    require("claude-code.editor.diagnostics.writes").on_write(buf, "opened")
  end
  return buf
end

---Loads files for a moment.
---@return fun(candidates: string[]): integer?, string? load the first of the paths that is a file of the
--- workspace; the text says why it cannot be loaded
---@return fun(): boolean is_over no more is loaded
function M.loader()
  local stop, count = vim.uv.hrtime() + BATCH_MS * 1e6, 0
  local function is_over()
    return count > 0 and vim.uv.hrtime() > stop
  end
  return function(candidates)
    for _, candidate in ipairs(candidates) do
      local buf, failure = load(candidate)
      if buf or failure then
        count = count + 1
        return buf, failure
      end
    end
  end,
    is_over
end

return M
