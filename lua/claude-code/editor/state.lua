--- What changed in the editor since the executable was last told. Events only mark; the work is
--- done when a Delta is made: asked for by `sync`, or pushed, at most one per 50 ms.
local api, uv = vim.api, vim.uv
local path = require("claude-code.editor.path")
local settle = require("claude-code.editor.settle")

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

---@class claude-code.Buffer
---@field buf integer
---@field name string
---@field path? string only for a file
---@field buftype string
---@field filetype string
---@field listed boolean
---@field loaded boolean
---@field modified boolean
---@field readonly boolean
---@field lines integer

---@class claude-code.Delta what changed; absent fields did not
---@field tick integer
---@field full? true forget all that was known
---@field buffers? claude-code.Buffer[]
---@field removed? integer[]
---@field diagnostics? { buf: integer, path: string, items: claude-code.Diagnostic[] }[]
---@field folders? string[]
---@field current? integer
---@field owing? string[]

local M = {}

local tick = 0
local timer ---@type uv.uv_timer_t?
local group ---@type integer?
local cancel_folders ---@type fun()?
local pause = PAUSE_MS

---What the executable knows, and what may no longer be true.
local known ---@type table<integer, claude-code.Buffer>
local reported ---@type table<integer, true> buffers whose diagnostics it holds
local dirty ---@type { buffers: table<integer, true>, diagnostics: table<integer, true>, folders: boolean }
local last ---@type { current?: integer, owing: string }

local function forget()
  known, reported = {}, {}
  dirty = { buffers = {}, diagnostics = {}, folders = true }
  last = { owing = "" }
end

---@param buf integer
---@return claude-code.Buffer
local function describe(buf)
  local function option(name)
    return api.nvim_get_option_value(name, { buf = buf })
  end
  local loaded = api.nvim_buf_is_loaded(buf)
  return {
    buf = buf,
    name = api.nvim_buf_get_name(buf),
    path = path.of_buffer(buf),
    buftype = option("buftype"),
    filetype = option("filetype"),
    listed = option("buflisted"),
    loaded = loaded,
    modified = option("modified"),
    readonly = option("readonly"),
    lines = loaded and api.nvim_buf_line_count(buf) or 0,
  }
end

---Changes that have no event (a hidden buffer edited by a plugin) are found by comparison.
---@param buf integer
---@param before claude-code.Buffer
---@return boolean
local function has_moved(buf, before)
  local loaded = api.nvim_buf_is_loaded(buf)
  return loaded ~= before.loaded
    or (loaded and api.nvim_buf_line_count(buf) ~= before.lines)
    or api.nvim_get_option_value("modified", { buf = buf }) ~= before.modified
    or api.nvim_get_option_value("buflisted", { buf = buf }) ~= before.listed
end

---@param delta claude-code.Delta
local function add_buffers(delta)
  local present, changed, removed = {}, {}, {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    present[buf] = true
    local before = known[buf]
    if not before or dirty.buffers[buf] or has_moved(buf, before) then
      local now = describe(buf)
      if not before or not vim.deep_equal(before, now) then
        known[buf] = now
        changed[#changed + 1] = now
        if before and before.path ~= now.path and reported[buf] then
          dirty.diagnostics[buf] = true
        end
      end
    end
  end
  for buf in pairs(known) do
    if not present[buf] then
      known[buf], reported[buf] = nil, nil
      removed[#removed + 1] = buf
    end
  end
  dirty.buffers = {}
  delta.buffers = #changed > 0 and changed or nil
  delta.removed = #removed > 0 and removed or nil
end

---@param delta claude-code.Delta
local function add_diagnostics(delta)
  local list = {}
  for buf in pairs(dirty.diagnostics) do
    local buffer = known[buf]
    if buffer and buffer.path then
      local items = require("claude-code.editor.diagnostics").items(buf)
      if #items > 0 or reported[buf] then
        list[#list + 1] = { buf = buf, path = buffer.path, items = items }
        reported[buf] = #items > 0 or nil
      end
    end
  end
  dirty.diagnostics = {}
  delta.diagnostics = #list > 0 and list or nil
end

---@param delta claude-code.Delta
local function add_rest(delta)
  if dirty.folders then
    dirty.folders = false
    delta.folders = require("claude-code.workspace").folders()
  end
  local current = api.nvim_get_current_buf()
  if current ~= last.current then
    last.current, delta.current = current, current
  end
  local owing = settle.owing()
  local key = table.concat(owing, "\0")
  if key ~= last.owing then
    last.owing, delta.owing = key, owing
  end
end

---@return claude-code.Delta all that changed since the one before
local function take()
  local started = uv.hrtime()
  tick = tick + 1
  local delta = { tick = tick }
  add_buffers(delta)
  add_diagnostics(delta)
  add_rest(delta)
  local cost_ms = (uv.hrtime() - started) / 1e6
  pause = math.min(math.max(PAUSE_MS, cost_ms * COST_FACTOR), LONGEST_PAUSE_MS)
  return delta
end

local function push()
  if not group or not require("claude-code.editor").is_attached() then
    return
  end
  local delta = take()
  -- More than its tick?
  if next(delta, next(delta)) ~= nil then
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
  dirty.buffers[buf] = true
  M.touch()
end

---@param buf integer
local function mark_diagnostics(buf)
  dirty.diagnostics[buf] = true
  M.touch()
end

---Typing changes a file's entry only when its first change or its number of lines does.
---@param buf integer
local function typed(buf)
  local before = known[buf]
  if before and has_moved(buf, before) then
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
  on("OptionSet", mark_buffer, OPTIONS)
  on("TextChangedI", typed)
  on({ "BufEnter", "WinEnter", "TabEnter" }, M.touch)
  on("DiagnosticChanged", mark_diagnostics)
  cancel_folders = require("claude-code.workspace").on_change(function()
    dirty.folders = true
    M.touch()
  end)
end

---Begins to follow the editor.
---@return claude-code.Delta full
function M.start()
  M.stop()
  forget()
  timer = assert(uv.new_timer())
  settle.start(M.touch)
  watch()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if next(vim.diagnostic.count(buf)) then
      dirty.diagnostics[buf] = true
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
  settle.stop()
  forget()
end

return M
