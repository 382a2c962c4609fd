--- Files that nobody has open, loaded for a client: so linters and language servers see them. They stay out of
--- `:ls`, and go when nobody needs them any more.
local api = vim.api
local documents = require("claude-code.editor.documents")
local loading = require("claude-code.editor.documents.load")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")

---Beyond so many the oldest go, but for those that have an owner.
local MOST_KEPT = 50

local M = {}

---The more a file has, the longer Neovim stands still: 2 MB take some 20 ms. Linters that run as
---programs have 10 s to report.
---@type claude-code.BackgroundOptions
M.FOR_DIAGNOSTICS = { most_bytes = 2 * 1024 * 1024, keep_ms = 10000, has_diagnostics = true }

---@class claude-code.BackgroundOptions
---@field most_bytes integer
---@field keep_ms integer from now on
---@field has_diagnostics? boolean … and for as long as it has some

---@class claude-code.BackgroundFile
---@field buf integer
---@field is_new boolean the buffer was made for this; one that was there keeps its marks
---@field till number it is kept until then, by uv.now()
---@field has_diagnostics? boolean … and for as long as it has some
---@field owners table<any, true> … and until each has released it

local files = {} ---@type claude-code.BackgroundFile[] oldest first
local cancel_review = function() end

---Deletes a buffer that was loaded here, unless it is used otherwise.
---@param i integer
local function drop(i)
  local file = table.remove(files, i)
  local buf = file.buf
  local is_unused = api.nvim_buf_is_loaded(buf)
    and not vim.bo[buf].buflisted
    and not vim.bo[buf].modified
    and #vim.fn.win_findbuf(buf) == 0
  if is_unused then
    pcall(api.nvim_buf_delete, buf, { unload = not file.is_new })
  end
end

local function are_too_many()
  local count = 0
  for _, file in ipairs(files) do
    count = count + (next(file.owners) and 0 or 1)
  end
  return count > MOST_KEPT
end

---@param file claude-code.BackgroundFile
---@return number till by uv.now()
local function kept_till(file)
  if not api.nvim_buf_is_loaded(file.buf) then
    return 0
  elseif next(file.owners) then
    return math.huge
  end
  local has_some = file.has_diagnostics and next(vim.diagnostic.count(file.buf)) ~= nil
  return are_too_many() and 0 or has_some and math.huge or file.till
end

---Deletes what is no longer kept, one buffer at a time: each may take a language server's time.
local function review()
  local next_at, now = math.huge, vim.uv.now()
  for i, file in ipairs(files) do
    local till = kept_till(file)
    if till <= now then
      drop(i)
      next_at = now + 1
      break
    end
    next_at = math.min(next_at, till)
  end
  cancel_review()
  cancel_review = next_at < math.huge and timer.once(next_at - now, review) or function() end
end

local function review_soon()
  cancel_review()
  cancel_review = timer.once(0, review)
end

---@param name string in normal form
---@param folders? string[] of the workspace, where they are known
---@return boolean
function M.is_in_workspace(name, folders)
  return path.is_in_any(path.real(name), folders or require("claude-code.lib.workspace").folders())
end

---Loads a file that is not loaded.
---@param name string in normal form
---@param options claude-code.BackgroundOptions
---@return integer? buf
---@return string? failure if it is too big, or it is for a Claude elsewhere
function M.load(name, options)
  local stat = vim.uv.fs_stat(name)
  if not stat then
    return nil
  elseif require("claude-code.editor.documents.scope").current() then
    local text =
      "%s is not open in Neovim, and nothing is loaded for a Claude elsewhere: ask the user to open it"
    return nil, text:format(path.title(name))
  elseif stat.size > options.most_bytes then
    return nil, path.too_big(name, stat.size, options.most_bytes) .. ", unless you open it yourself"
  elseif documents.problem_with(name) then
    return nil
  end
  local is_new = path.buffer(name) == nil
  local ok, buf = pcall(loading.of_file, name, true)
  if not ok then
    return nil
  end
  local file = { buf = buf, is_new = is_new, owners = {}, till = vim.uv.now() + options.keep_ms }
  file.has_diagnostics = options.has_diagnostics
  table.insert(files, file)
  review_soon()
  return buf
end

---@return claude-code.BackgroundFile?
local function file_of(buf)
  return vim.iter(files):find(function(file)
    return file.buf == buf
  end)
end

---Keeps a file that was loaded here for longer.
---@param buf integer
---@param ms integer from now on
function M.keep(buf, ms)
  local file = file_of(buf)
  if file then
    file.till, file.has_diagnostics = vim.uv.now() + ms, nil
  end
end

---Keeps a file that was loaded here until its owner releases it.
---@param buf integer
---@param owner any
function M.own(buf, owner)
  local file = file_of(buf)
  if file then
    file.owners[owner] = true
  end
end

---What the owner alone has kept goes.
---@param owner any
function M.release(owner)
  for _, file in ipairs(files) do
    file.owners[owner] = nil
  end
  review_soon()
end

---A file was deleted: servers need not see it any more, if they do only because it was loaded here.
---@param name string in normal form
function M.on_deleted(name)
  for i, file in ipairs(files) do
    if api.nvim_buf_is_valid(file.buf) and api.nvim_buf_get_name(file.buf) == name then
      return drop(i)
    end
  end
end

return M
