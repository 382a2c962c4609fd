--- Remembers which problems each file had before it was last written outside, so that new ones can
--- be told from old ones.
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
function M.beyond(items, counts)
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

---A file was written that no buffer held: nothing is known, unless there was no file before.
---@param real string real path
---@param absent boolean
function M.written_unseen(real, absent)
  before[real] = absent and {} or nil
end

---@param buf integer just reloaded: its servers have not seen the new text yet
local function remember(buf)
  local name = path.of_buffer(buf)
  local real = name and path.real(name)
  -- If a report was owed, the list is from before the edit before this one, as is what we have.
  if
    real and not (before[real] and require("claude-code.editor.diagnostics.pending").was_owed(buf))
  then
    before[real] = M.count(require("claude-code.editor.diagnostics").items(buf))
  end
end

function M.start()
  api.nvim_create_autocmd("FileChangedShellPost", {
    group = api.nvim_create_augroup("claude-code.session", { clear = true }),
    callback = function(args)
      remember(args.buf)
    end,
  })
end

function M.stop()
  pcall(api.nvim_del_augroup_by_name, "claude-code.session")
  before = {}
end

return M
