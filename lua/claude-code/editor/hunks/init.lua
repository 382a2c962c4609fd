--- What differs between two texts: on whole lines, by Neovim's own diff with the algorithm of
--- 'diffopt', white space included.
local diff = vim.text and vim.text.diff or vim.diff

---A thread is waited for. libuv has four of them, which others may keep busy: an `fs_open` of a FIFO does,
---and "algorithm:minimal" of 'diffopt' may compare for minutes.
local LONGEST_MS = 5000

local M = {}

---@class claude-code.Hunk lines 1-based; a side without lines has the line before them as its first
---@field old integer
---@field old_count integer
---@field new integer
---@field new_count integer

---@class claude-code.HunkList
---@field tick integer changedtick of the proposal's buffer
---@field list claude-code.Hunk[]
---@field added integer lines
---@field removed integer lines
---@field hidden? integer|false first line that adds a hidden character; nil until it was looked for

---@param lines string[]
---@return boolean
local function is_empty(lines)
  return #lines == 1 and lines[1] == ""
end

---@param lines string[]
---@return string text a buffer without text has no lines
function M.joined(lines)
  if is_empty(lines) then
    return ""
  end
  return table.concat(lines, "\n") .. "\n"
end

---@return table for vim.text.diff
local function diff_options()
  local wanted = { result_type = "indices" }
  for _, item in ipairs(vim.opt.diffopt:get()) do
    wanted.algorithm = item:match("^algorithm:(.*)") or wanted.algorithm
    wanted.indent_heuristic = wanted.indent_heuristic or item == "indent-heuristic"
  end
  return wanted
end

---@param found integer[][] as `diff` returns indices
---@return claude-code.Hunk[]
local function named(found)
  return vim.tbl_map(function(one)
    return { old = one[1], old_count = one[2], new = one[3], new_count = one[4] }
  end, found)
end

---@param old string lines that end
---@param new string
---@return claude-code.Hunk[]
function M.compare(old, new)
  return named(diff(old, new, diff_options()) --[[@as integer[][] ]])
end

---By the item of 'diffopt'.
local IGNORING = {
  iblank = "ignore_blank_lines",
  iwhite = "ignore_whitespace_change",
  iwhiteall = "ignore_whitespace",
  iwhiteeol = "ignore_whitespace_change_at_eol",
}

---Does 'diffopt' keep diff mode from showing a change, as only white space differs?
---@param old string[] lines
---@param new string[]
---@return boolean
function M.hides_changes(old, new)
  local options = diff_options()
  for _, item in ipairs(vim.opt.diffopt:get()) do
    if IGNORING[item] then
      options[IGNORING[item]] = true
    end
  end
  local all = diff_options()
  if vim.deep_equal(options, all) then
    return false
  end
  local before, after = M.joined(old), M.joined(new)
  return not vim.deep_equal(diff(before, after, options), diff(before, after, all))
end

---@param old string[] lines
---@param new string[]
---@return claude-code.Hunk[]
function M.between(old, new)
  return M.compare(M.joined(old), M.joined(new))
end

---@param list claude-code.Hunk[]
---@param tick integer changedtick of the buffer with the new text
---@return claude-code.HunkList
local function counted(list, tick)
  local added, removed = 0, 0
  for _, hunk in ipairs(list) do
    added, removed = added + hunk.new_count, removed + hunk.old_count
  end
  return { tick = tick, list = list, added = added, removed = removed }
end

---@param old string as of `joined`
---@param new string
---@param tick integer changedtick of the buffer with the new text
---@return claude-code.HunkList
function M.list(old, new, tick)
  return counted(M.compare(old, new), tick)
end

---Runs in a thread, which has none of the values around it.
---@param old string
---@param new string
---@param options string packed
---@return string? found packed
local function compare_in_thread(old, new, options)
  local mpack, compare = vim.mpack, vim.text and vim.text.diff or vim.diff
  local ok, found = pcall(compare, old, new, mpack.decode(options))
  return ok and mpack.encode(found) or nil
end

---@param old string[] lines
---@param new string[]
---@return claude-code.Hunk[] one from the first line that differs to the last one, if any does
local function whole_change(old, new)
  local old_last, new_last = is_empty(old) and 0 or #old, is_empty(new) and 0 or #new
  local first = 1
  while first <= math.min(old_last, new_last) and old[first] == new[first] do
    first = first + 1
  end
  while math.min(old_last, new_last) >= first and old[old_last] == new[new_last] do
    old_last, new_last = old_last - 1, new_last - 1
  end
  local old_count, new_count = old_last - first + 1, new_last - first + 1
  if old_count + new_count == 0 then
    return {}
  end
  return {
    {
      old = old_count > 0 and first or first - 1,
      old_count = old_count,
      new = new_count > 0 and first or first - 1,
      new_count = new_count,
    },
  }
end

---As `list`, in a thread of its own: 64,000 unlike lines take 40 ms, those of a few kinds 0.6 s. If that
---takes too long, it is one hunk.
---@param old string[] lines
---@param new string[]
---@param tick integer changedtick of the buffer with the new text
---@param pause fun(always?: boolean)
---@return claude-code.HunkList
function M.list_in_thread(old, new, tick, pause)
  local is_done, packed = false, nil
  local before = M.joined(old)
  pause(true)
  local after = M.joined(new)
  pause(true)
  local work = vim.uv.new_work(compare_in_thread, function(found)
    is_done, packed = true, found
  end)
  work:queue(before, after, vim.mpack.encode(diff_options()))
  local last = vim.uv.hrtime() + LONGEST_MS * 1e6
  while not is_done and vim.uv.hrtime() < last do
    pause(true)
  end
  return counted(packed and named(vim.mpack.decode(packed)) or whole_change(old, new), tick)
end

---@param hunk claude-code.Hunk
---@param side "old"|"new"
---@return integer first 1-based line where a cursor is on the hunk
---@return integer last
function M.span(hunk, side)
  local first, count = hunk[side], hunk[side .. "_count"]
  if count == 0 then
    -- Between two lines: the one below shows it, as with ]c.
    return first + 1, first + 1
  end
  return first, first + count - 1
end

---@param hunk claude-code.Hunk
---@return integer first 0-based row of its lines in the proposal
---@return integer last not included; the first one again if it only deletes
function M.rows(hunk)
  local first = hunk.new_count > 0 and hunk.new - 1 or hunk.new
  return first, first + hunk.new_count
end

---@param list claude-code.Hunk[]
---@param side "old"|"new"
---@param line integer 1-based
---@return integer index of the last hunk that begins at or above the line, 0 if none does
function M.before(list, side, line)
  local low, high = 0, #list
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if M.span(list[middle], side) <= line then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

---The hunk under a cursor. Lines missing at the end of the file belong to its last line.
---@param list claude-code.Hunk[]
---@param side "old"|"new"
---@param line integer 1-based
---@param count integer lines of that side
---@return integer? index
function M.at(list, side, line, count)
  local index = M.before(list, side, line)
  if index > 0 and select(2, M.span(list[index], side)) >= line then
    return index
  end
  local last = list[#list]
  if last and line == count and M.span(last, side) > count then
    return #list
  end
end

return M
