--- Selects the problems of edited files that count according to the user's options.
local globs = require("claude-code.editor.privacy.glob")
local path = require("claude-code.editor.documents.path")

local M = {}

local LEVELS = { error = 1, warning = 2, information = 3, hint = 4 }

---Matches globs against the whole path and the path below each workspace folder; a glob without a slash also against
---the file's name.
local function is_ignored(file, ignored)
  if #ignored == 0 then
    return false
  end
  local names = { file }
  for _, folder in ipairs(require("claude-code.lib.workspace").folders()) do
    if path.is_inside(file, folder) then
      names[#names + 1] = file:sub(#folder:gsub("/$", "") + 2)
    end
  end
  return vim.iter(ignored):any(function(glob)
    local pattern = globs.compile(glob)
    local tried = glob:find("/", 1, true) and names or { vim.fs.basename(file), unpack(names) }
    return vim.iter(tried):any(function(name)
      return globs.matches(pattern, name)
    end)
  end)
end

---Number of occurrences of each problem, regardless of its place, which edits above it change.
---@alias claude-code.ProblemCounts table<string, integer>

local function key(item)
  local parts = { item.severity, tostring(item.source), tostring(item.code), item.message }
  return table.concat(parts, "\0")
end

function M.count(items)
  local counts = {}
  for _, item in ipairs(items) do
    counts[key(item)] = (counts[key(item)] or 0) + 1
  end
  return counts
end

---@return claude-code.Diagnostic[] those that `counts` does not include
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

---@param file string real path
---@param before? claude-code.ProblemCounts before the session's first edit; nil: unknown
function M.counted(file, items, before)
  local options = require("claude-code.config").get().diagnostics
  if is_ignored(file, options.ignore_files) or (options.only_new and not before) then
    return {}
  end
  if options.only_new and before then
    items = M.new_since(items, before)
  end
  local least = LEVELS[options.severity]
  return vim.tbl_filter(function(item)
    return item.severity <= least and not vim.tbl_contains(options.ignore_sources, item.source)
  end, items)
end

---@param problems { item: claude-code.Diagnostic }[]
---@return integer[] counts by severity
function M.tally(problems)
  local counts = { 0, 0, 0, 0 }
  for _, problem in ipairs(problems) do
    counts[problem.item.severity] = counts[problem.item.severity] + 1
  end
  return counts
end

---@generic T: { path: string, item: claude-code.Diagnostic }
---@param problems T[] will be sorted by severity and place
---@return T[]
function M.worst(problems, count)
  table.sort(problems, function(a, b)
    if a.item.severity ~= b.item.severity then
      return a.item.severity < b.item.severity
    elseif a.path ~= b.path then
      return a.path < b.path
    elseif a.item.lnum ~= b.item.lnum then
      return a.item.lnum < b.item.lnum
    end
    return a.item.col < b.item.col
  end)
  return vim.list_slice(problems, 1, count)
end

return M
