--- Files of the workspace that nobody has open and a client asks about: they are loaded, so that
--- linters and language servers see them, and stay out of `:ls`. For diagnostics only those that have
--- some are kept; for a question to a language server, a file is kept for a time.
local api = vim.api
local documents = require("claude-code.editor.documents")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")

---One call loads files for so long, and at least one; the next call goes on.
local BATCH_MS = 2
local MOST_KEPT = 50
---The more a file has, the longer Neovim stands still: 2 MB take some 20 ms. Linters that run as
---programs have 10 s to report.
local FOR_DIAGNOSTICS = { most_bytes = 2 * 1024 * 1024, keep_ms = 10000, for_diagnostics = true }

local M = {}

---Of a file that is loaded for its diagnostics.
M.MOST_BYTES = FOR_DIAGNOSTICS.most_bytes

---@class claude-code.HiddenFile
---@field buf integer
---@field is_new boolean the buffer was made for this
---@field till number it is kept until then, by uv.now()
---@field for_diagnostics boolean … and for as long as it has some

local kept = {} ---@type claude-code.HiddenFile[] oldest first
local cancel_release = function() end

---@param i integer
local function drop(i)
  local entry = table.remove(kept, i)
  documents.unload_hidden(entry.buf, entry.is_new)
end

---@param entry claude-code.HiddenFile
---@return number till by uv.now()
local function kept_till(entry)
  if not api.nvim_buf_is_loaded(entry.buf) then
    return 0
  end
  local has_some = entry.for_diagnostics and next(vim.diagnostic.count(entry.buf)) ~= nil
  return has_some and math.huge or entry.till
end

---Deletes what is no longer kept, one buffer at a time: each may take a language server's time.
local function release()
  local next_at, now = math.huge, vim.uv.now()
  for i, entry in ipairs(kept) do
    local till = #kept > MOST_KEPT and 0 or kept_till(entry)
    if till <= now then
      drop(i)
      next_at = now + 1
      break
    end
    next_at = math.min(next_at, till)
  end
  cancel_release()
  cancel_release = next_at < math.huge and timer.once(next_at - now, release) or function() end
end

---@param name string in normal form
---@param folders? string[] of the workspace, where they are known
---@return boolean
function M.is_in_workspace(name, folders)
  local real = path.real(name)
  return vim.iter(folders or require("claude-code.lib.workspace").folders()):any(function(folder)
    return vim.startswith(real, folder .. "/")
  end)
end

---@class claude-code.HiddenOptions
---@field most_bytes integer
---@field keep_ms integer
---@field for_diagnostics boolean

---Loads a file of the workspace that is not loaded.
---@param name string in normal form
---@param options claude-code.HiddenOptions
---@return integer? buf
---@return string? failure if it is too big
function M.load(name, options)
  local stat = vim.uv.fs_stat(name)
  if not stat or not M.is_in_workspace(name) then
    return nil
  elseif stat.size > options.most_bytes then
    return nil, path.too_big(name, stat.size, options.most_bytes) .. ", unless you open it yourself"
  end
  local is_new = path.buffer(name) == nil
  local buf = documents.load_hidden({ path = name })
  if buf then
    kept[#kept + 1] = {
      buf = buf,
      is_new = is_new,
      till = vim.uv.now() + options.keep_ms,
      for_diagnostics = options.for_diagnostics,
    }
    cancel_release()
    cancel_release = timer.once(0, release)
    require("claude-code.editor.diagnostics.writes").on_write(buf, "opened")
  end
  return buf
end

---Keeps a file that was loaded here for longer.
---@param buf integer
---@param ms integer from now on
function M.keep(buf, ms)
  for _, entry in ipairs(kept) do
    if entry.buf == buf then
      entry.till, entry.for_diagnostics = vim.uv.now() + ms, false
    end
  end
end

---A file was deleted: servers need not see it any more, if they do only because it was loaded here.
---@param name string in normal form
function M.on_deleted(name)
  for i, entry in ipairs(kept) do
    if api.nvim_buf_is_valid(entry.buf) and api.nvim_buf_get_name(entry.buf) == name then
      return drop(i)
    end
  end
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
      local buf, failure = M.load(candidate, FOR_DIAGNOSTICS)
      if buf or failure then
        count = count + 1
        return buf, failure
      end
    end
  end,
    is_over
end

return M
