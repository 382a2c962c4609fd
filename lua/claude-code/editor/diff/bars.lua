--- The bar ('winbar') above each side: the file, the hunk, the counts and the keys. Neovim cuts a long bar after its
--- `%<`, so the key that accepts comes last.
local api, fn = vim.api, vim.fn
local hunk_by_hunk = require("claude-code.editor.diff.hunk_by_hunk")
local keys = require("claude-code.editor.diff.keys")
local path = require("claude-code.editor.documents.path")
local winbar = require("claude-code.editor.windows.winbar")

---A bar with this many cells has room for all keys and their words.
local WIDE = 100

---@class claude-code.BarFindings results of searching the whole proposal
---@field hunks claude-code.HunkList
---@field accepted? integer hunks that the user accepted one by one; nil: accepting takes all
---@field conflicts boolean marks of conflicts are left
---@field moved boolean symlinks no longer lead to the file for which it was proposed
---@field read_only boolean
---@field edited boolean by the user
---@field session? string whose proposal it is, where several sessions run
---@field hidden? integer first line of the proposal that adds a hidden character

local M = {}

---Adds the folder unless it is the working folder: two files may have one name.
local function file_name(name)
  local text = path.base(name)
  if fn.fnamemodify(name, ":.") ~= text then
    text = path.base(vim.fs.dirname(name)) .. "/" .. text
  end
  return text
end

---The file that accepting writes; outside of the workspace its whole, resolved path.
---@param cells integer limit of the text, unless the file is outside
---@param width integer of the window, in cells
local function destination(view, cells, width)
  if view.is_outside then
    local name = fn.fnamemodify(view.proposal.file, ":~")
    return { winbar.shortened(name, width - 4, "tail"), "ClaudeCodeWarning" }
  end
  return { winbar.shortened(file_name(view.proposal.new_path), cells, "tail"), "ClaudeCodeBarFile" }
end

local function warning(words)
  return words and { (" %s "):format(words), "ClaudeCodeWarning" } or nil
end

local function warnings(view)
  local proposal, found = view.proposal, view.found
  local too_big = proposal.too_big and "written since proposed, too big to be shown"
  local is_merged = proposal.unsaved and proposal:is_merged()
  return winbar.parts(
    warning(view.is_outside and "outside of the workspace"),
    warning(found.moved and "leads to another file now"),
    warning(found.read_only and "read-only"),
    warning(found.hidden and ("hidden characters, line %d"):format(found.hidden)),
    warning(too_big or proposal.is_written and "written since proposed"),
    found.conflicts and warning("conflicts are left")
      or is_merged and { " with your unsaved edits ", "ClaudeCodeNote" }
      or warning(proposal.unsaved and "without your unsaved edits")
  )
end

---@return string words which hunk of how many; if no line differs, what does
local function hunk_words(view)
  local list = view.found.hunks.list
  if #list == 0 then
    return view.proposal:change_of_ends() or ""
  end
  local _, nearest = hunk_by_hunk.index(view, list)
  return ("hunk %d/%d"):format(math.max(nearest, 1), #list)
end

local function action_hints(view)
  local proposal, hints = view.proposal, {} ---@type any, claude-code.BarHint[]
  local count, accepted = #view.found.hunks.list, view.found.accepted
  local function add(words, action, other)
    local pair = { keys.of(action)[1], other and keys.of(other)[1] }
    local is_needed = action == "accept" or action == "help"
    local is_fact = action == "accept" and accepted ~= nil
    hints[#hints + 1] = { keys = pair, words = words, is_needed = is_needed, is_fact = is_fact }
  end
  add("help", "help")
  if view.diff.series.total > 1 then
    add("other diff", "next_diff", "previous_diff")
  end
  if count > 1 then
    add("move", "next_hunk", "previous_hunk")
    add("accept/drop hunk", "accept_hunk", "drop_hunk")
  end
  add(view.found.edited and "postpone" or "reject", "reject")
  if proposal.unsaved and not proposal.merged then
    add("merge your edits", "merge")
  end
  add(accepted and ("accept %d of %d hunks"):format(accepted, count) or "accept", "accept")
  return hints
end

local function of_old(view, cells)
  local proposal = view.proposal
  local other = proposal.base_path ~= proposal.new_path and proposal.exists
  local parts = {
    " %<",
    other
        and { winbar.shortened(file_name(proposal.base_path), cells, "tail"), "ClaudeCodeBarFile" }
      or destination(view, cells, cells),
    { proposal.exists and " (on disk) " or " (new file) ", "ClaudeCodeNote" },
  }
  return vim.list_extend(parts, warnings(view))
end

local function of_new(view, cells)
  local proposal, found = view.proposal, view.found
  local is_wide, remote = cells >= WIDE, proposal.remote
  local is_new = not proposal.exists or proposal.base_path ~= proposal.new_path
  local number, total = view.diff.number, view.diff.series.total
  local parts = winbar.parts(
    " ",
    remote
      and {
        winbar.shortened(remote, math.max(math.floor(cells / 3), 8), "head") .. ": ",
        "ClaudeCodeWarning",
      },
    total > 1 and { ("[%d/%d] "):format(number, total), "ClaudeCodeBarCount" },
    found.session and { winbar.shortened(found.session, 16, "tail") .. ": ", "ClaudeCodeNote" },
    destination(view, math.floor(cells / 3), cells)
  )
  local note = { is_new and " (new file)" or " (proposed)", "ClaudeCodeNote" }
  local hunk = { ("  %s "):format(hunk_words(view)), "ClaudeCodeBarCount" }
  local hints = action_hints(view)
  local rest = cells - winbar.width(parts) - winbar.width({ hunk })
  local needed = winbar.width(winbar.hints(hints, 0))
  if is_wide or is_new and winbar.width({ note }) <= rest - needed then
    table.insert(parts, note)
  end
  table.insert(parts, hunk)
  -- In the narrowest window, cut the file's name rather than the keys.
  table.insert(parts, rest < needed and (remote and 3 or 2) or #parts + 1, "%<")
  local counts = {
    { (" +%d"):format(found.hunks.added), "ClaudeCodeAddSign" },
    { (" −%d "):format(found.hunks.removed), "ClaudeCodeDeleteSign" },
  }
  -- Drop the counts before keys, but after words.
  local room = cells - winbar.width(parts) - winbar.width(counts)
  if found.hunks.list[1] and winbar.width(winbar.hints(hints, room)) <= room then
    vim.list_extend(parts, counts)
  end
  vim.list_extend(parts, #view.layout.windows == 1 and warnings(view) or {})
  table.insert(parts, "%=")
  return vim.list_extend(parts, winbar.hints(hints, cells - winbar.width(parts)))
end

---Updates the bars for the cursor and the windows' sizes, with the last findings: searching a big proposal takes too
---long for each key.
function M.show(view)
  for _, win in ipairs(view.layout.windows) do
    local buf = api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win)
    local of = buf == view.proposal.new_buf and of_new or buf == view.proposal.old_buf and of_old
    if of then
      local parts = of(view, api.nvim_win_get_width(win))
      winbar.set(win, winbar.render(parts))
    end
  end
end

---Searches the proposal, and updates the bars.
function M.update(view)
  local states = hunk_by_hunk.states(view.proposal)
  local list = view.proposal:hunks()
  view.found = {
    hunks = list,
    moved = view.proposal:is_moved(),
    read_only = view.proposal:is_read_only(),
    hidden = require("claude-code.editor.changes.hidden").show(view.proposal.new_buf, list.list),
    accepted = states and states.count,
    conflicts = view.proposal:has_conflicts(),
    edited = view.proposal:is_edited(),
    session = view.diff:session_name(),
  }
  M.show(view)
end

return M
