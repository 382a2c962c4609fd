--- Which problems each file had before it was last written outside: the others are new.
local api = vim.api
local path = require("claude-code.editor.documents.path")

local M = {}

---How often each problem occurs. Without its place, which any edit above it moves.
---@alias claude-code.ProblemCounts table<string, integer>

---@type table<string, claude-code.ProblemCounts> by real path
local before = {}

---@param item claude-code.Diagnostic
---@return string
local function key(item)
  return table.concat(
    { item.severity, tostring(item.source), tostring(item.code), item.message },
    "\0"
  )
end

---@param items claude-code.Diagnostic[]
---@return claude-code.ProblemCounts
function M.count(items)
  local counts = {}
  for _, item in ipairs(items) do
    counts[key(item)] = (counts[key(item)] or 0) + 1
  end
  return counts
end

---@param items claude-code.Diagnostic[]
---@param counts claude-code.ProblemCounts
---@return claude-code.Diagnostic[] those that are not among the counted ones
function M.new_since(items, counts)
  local left = vim.deepcopy(counts)
  return vim.tbl_filter(function(item)
    local id = key(item)
    if (left[id] or 0) > 0 then
      left[id] = left[id] - 1
      return false
    end
    return true
  end, items)
end

---The problems a file had before it was last written outside; nil if that was not seen.
---@param real string real path
---@return claude-code.ProblemCounts?
function M.before(real)
  return before[real]
end

---A file was written that was not open: nothing is known, unless there was no file before.
---@param real string real path
---@param absent boolean
function M.on_unseen_write(real, absent)
  before[real] = absent and {} or nil
end

---@param buf integer just reloaded: its servers have not seen the new text yet
local function on_reload(buf)
  local name = path.of_buffer(buf)
  local real = name and path.real(name)
  -- If a report was pending, the list is from before the edit before this one, as is what we have.
  local pending = require("claude-code.editor.diagnostics.pending")
  if real and not (before[real] and pending.was_pending(buf)) then
    before[real] = M.count(require("claude-code.editor.diagnostics").items(buf))
  end
end

---What `writes` does on this event comes first: it began to follow before.
function M.start()
  api.nvim_create_autocmd("FileChangedShellPost", {
    group = api.nvim_create_augroup("claude-code.session", { clear = true }),
    callback = function(args)
      on_reload(args.buf)
    end,
  })
end

function M.stop()
  pcall(api.nvim_del_augroup_by_name, "claude-code.session")
  before = {}
end

return M
