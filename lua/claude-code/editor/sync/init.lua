--- Follows the editor for the executable. Events only mark; the work is done when a Delta is made:
--- asked for by `sync`, or pushed, at most one per 50 ms.
local api, uv = vim.api, vim.uv
local deltas = require("claude-code.editor.sync.delta")
local settle = require("claude-code.editor.diagnostics.pending")

---Shortest time between two pushes, in ms. Where making a Delta is dear (thousands of diagnostics
---with every key) the pause grows with its cost, so that it takes a tenth of the time at most.
local PAUSE_MS, LONGEST_PAUSE_MS, COST_FACTOR = 50, 1000, 10

local OPTIONS = { "buflisted", "buftype", "filetype", "modified", "readonly" }
local BUFFER_EVENTS = {
  "BufAdd",
  "BufDelete",
  "BufFilePost",
  "BufModifiedSet",
  "BufNewFile",
  "BufReadPost",
  "BufUnload",
  "BufWipeout",
  "BufWritePost",
  "FileType",
  "TermOpen",
  "TextChanged",
}

local M = {}

local timer ---@type uv.uv_timer_t?
local group ---@type integer?
local cancel_folders ---@type fun()?
local cancel_settle ---@type fun()?
local pause = PAUSE_MS

---@return claude-code.Delta
local function take()
  local started = uv.hrtime()
  local delta = deltas.take()
  local cost_ms = (uv.hrtime() - started) / 1e6
  pause = math.min(math.max(PAUSE_MS, cost_ms * COST_FACTOR), LONGEST_PAUSE_MS)
  return delta
end

local function push()
  if not group or not require("claude-code.editor").is_attached() then
    return
  end
  local delta = take()
  if not deltas.is_empty(delta) then
    require("claude-code.editor").notify("state", delta)
  end
end

---Something changed: the executable hears of it within the pause.
function M.touch()
  if timer and not timer:is_active() then
    timer:start(math.floor(pause), 0, vim.schedule_wrap(push))
  end
end

---@param buf integer
local function mark_buffer(buf)
  deltas.mark_buffer(buf)
  M.touch()
end

---@param buf integer
local function mark_diagnostics(buf)
  deltas.mark_diagnostics(buf)
  M.touch()
end

---Typing changes a file's entry only when its first change or its number of lines does.
---@param buf integer
local function typed(buf)
  if deltas.has_moved(buf) then
    M.touch()
  end
end

local function watch()
  group = api.nvim_create_augroup("claude-code.state", { clear = true })
  local function on(events, callback, pattern)
    api.nvim_create_autocmd(events, {
      group = group,
      pattern = pattern,
      callback = function(args)
        callback(args.buf)
      end,
    })
  end
  on(BUFFER_EVENTS, mark_buffer)
  on("OptionSet", function()
    -- Neovim does not say whose option it is; mostly the current buffer's.
    mark_buffer(api.nvim_get_current_buf())
  end, OPTIONS)
  on("TextChangedI", typed)
  on({ "BufEnter", "WinEnter", "TabEnter" }, M.touch)
  on("DiagnosticChanged", mark_diagnostics)
  cancel_folders = require("claude-code.workspace").on_change(function()
    deltas.mark_folders()
    M.touch()
  end)
end

---Begins to follow the editor.
---@return claude-code.Delta full
function M.start()
  M.stop()
  deltas.forget()
  timer = assert(uv.new_timer())
  cancel_settle = settle.follow(M.touch)
  watch()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if next(vim.diagnostic.count(buf)) then
      deltas.mark_diagnostics(buf)
    end
  end
  local delta = take()
  delta.full = true
  return delta
end

---What changed since the last Delta.
---@return claude-code.Delta?
---@return claude-code.Failure?
function M.sync()
  if not group then
    return nil, "not attached"
  end
  require("claude-code.editor.documents.reload").catch_up()
  return take()
end

---Leaves nothing running behind.
function M.stop()
  if not group then
    return
  end
  api.nvim_del_augroup_by_id(group)
  group = nil
  if cancel_folders then
    cancel_folders()
    cancel_folders = nil
  end
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
  if cancel_settle then
    cancel_settle()
    cancel_settle = nil
  end
end

return M
