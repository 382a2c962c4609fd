--- The bar ('winbar') above each side: the file, which hunk, how much changes, and the keys. Where it
--- is too long, Neovim cuts out what follows its `%<`: the key that accepts comes last.
local api, fn = vim.api, vim.fn
local hidden = require("claude-code.editor.diff.hidden")
local highlights = require("claude-code.editor.hunks.highlights")
local keys = require("claude-code.editor.diff.keys")
local owner = require("claude-code.editor.diff.owner")
local path = require("claude-code.editor.documents.path")
local winbar = require("claude-code.editor.windows.winbar")

---A bar of so many cells has room for all keys, and words that explain them.
local WIDE = 100

---@class claude-code.Bars
---@field private proposal claude-code.Proposal
---@field private layout claude-code.Layout
---@field private cursor claude-code.HunkCursor
---@field private position fun(): integer, integer the diff's number, and of how many
---@field private outside boolean the file is outside of the workspace
---@field private found? claude-code.BarFindings
local Bars = {}
Bars.__index = Bars

---@class claude-code.BarFindings what was found by looking through the whole proposal
---@field hunks claude-code.HunkList
---@field accepted? integer hunks accepted by themselves; nil if all count
---@field conflicts boolean marks of conflicts are left
---@field moved boolean symlinks lead to another file than when it was proposed
---@field read_only boolean
---@field session? string whose proposal it is, where several sessions run
---@field hidden? integer first line of the proposal that adds a hidden character

local M = {}

---@param proposal claude-code.Proposal
---@param layout claude-code.Layout
---@param cursor claude-code.HunkCursor
---@param position fun(): integer, integer
---@return claude-code.Bars
function M.new(proposal, layout, cursor, position)
  local bars = { proposal = proposal, layout = layout, cursor = cursor, position = position }
  bars.outside = proposal.destination:is_outside()
  return setmetatable(bars, Bars)
end

---The file, with its folder unless that is the working folder: two of one name differ.
---@param name string
---@return string
local function file_name(name)
  local text = path.base(name)
  if fn.fnamemodify(name, ":.") ~= text then
    text = path.base(vim.fs.dirname(name)) .. "/" .. text
  end
  return text
end

---The file that is written; one outside of the workspace by its whole path, as it really is.
---@private
---@param cells integer the text is no longer, unless the file is outside
---@param width integer of the window, in cells
---@return claude-code.BarPart
function Bars:destination(cells, width)
  if self.outside then
    local name = fn.fnamemodify(self.proposal.destination.path, ":~")
    return { winbar.shortened(name, width - 4, "tail"), "Warning" }
  end
  return { winbar.shortened(file_name(self.proposal.new_path), cells, "tail"), "File" }
end

---@private
---@return claude-code.BarPart[]
function Bars:warnings()
  local proposal, parts, found = self.proposal, {}, self.found or {}
  if self.outside then
    parts[1] = { " outside of the workspace ", "Warning" }
  end
  if found.moved then
    parts[#parts + 1] = { " leads to another file now ", "Warning" }
  end
  if found.read_only then
    parts[#parts + 1] = { " read-only ", "Warning" }
  end
  if found.hidden then
    parts[#parts + 1] = { (" hidden characters, line %d "):format(found.hidden), "Warning" }
  end
  if proposal.too_big then
    parts[#parts + 1] = { " written since proposed, too big to be shown ", "Warning" }
  elseif proposal.changes.written then
    parts[#parts + 1] = { " written since proposed ", "Warning" }
  end
  if self.found and self.found.conflicts then
    parts[#parts + 1] = { " conflicts are left ", "Warning" }
  elseif proposal.unsaved and proposal.merge:is_done() then
    parts[#parts + 1] = { " with your unsaved edits ", "Note" }
  elseif proposal.unsaved then
    parts[#parts + 1] = { " without your unsaved edits ", "Warning" }
  end
  return parts
end

---@private
---@return string words which hunk of how many; if no line differs, what does
function Bars:hunk_words()
  local list = self.found and self.found.hunks.list or {}
  if #list == 0 then
    return self.found and self.proposal:change_of_ends() or ""
  end
  local _, nearest = self.cursor:index(list)
  return ("hunk %d/%d"):format(math.max(nearest, 1), #list)
end

---What the keys do just now, as many of them as there is room for.
---@private
---@param is_wide boolean
---@param room integer in cells
---@return claude-code.BarPart[]
function Bars:keys(is_wide, room)
  local found = self.found
  local hints = {} ---@type claude-code.BarHint[]
  ---@param action claude-code.DiffAction
  ---@param other? claude-code.DiffAction
  local function add(words, action, other)
    local names = { keys.of(action)[1], other and keys.of(other)[1] }
    if next(names) then
      hints[#hints + 1] = {
        keys = table.concat(vim.tbl_values(names), " "),
        words = (is_wide or not other) and words or nil,
        is_brief = true,
        is_needed = action == "accept",
      }
    end
  end
  if select(2, self.position()) > 1 then
    add("other diff", "next_diff", "previous_diff")
  end
  if found and #found.hunks.list > 1 then
    if is_wide then
      add("move", "next_hunk", "previous_hunk")
    end
    add("accept/drop hunk", "accept_hunk", "drop_hunk")
  end
  if self.proposal.unsaved and not self.proposal.merge:was_run() then
    add("merge your edits", "merge")
  end
  add("reject", "reject")
  local some = found and found.accepted
  add(some and ("accept %d of %d hunks"):format(some, #found.hunks.list) or "accept", "accept")
  return winbar.hints(hints, room)
end

---@private
---@return claude-code.BarPart[] lines that the proposal adds and removes
function Bars:counts()
  local found = self.found and self.found.hunks
  return found
      and {
        { (" +%d"):format(found.added), "Added" },
        { (" −%d "):format(found.removed), "Removed" },
      }
    or {}
end

---@private
---@param cells integer
---@return claude-code.BarPart[]
function Bars:of_old(cells)
  local proposal = self.proposal
  local other = proposal.base_path ~= proposal.new_path and proposal.exists
  local parts = {
    " %<",
    other and { winbar.shortened(file_name(proposal.base_path), cells, "tail"), "File" }
      or self:destination(cells, cells),
    { proposal.exists and " (on disk) " or " (new file) ", "Note" },
  }
  return vim.list_extend(parts, self:warnings())
end

---@private
---@param cells integer
---@return claude-code.BarPart[]
function Bars:of_new(cells)
  local proposal, wide = self.proposal, cells >= WIDE
  local number, total = self.position()
  local parts = { " " }
  if total > 1 then
    parts[2] = { ("[%d/%d] "):format(number, total), "Count" }
  end
  if self.found and self.found.session then
    parts[#parts + 1] = { winbar.shortened(self.found.session, 16, "tail") .. ": ", "Note" }
  end
  parts[#parts + 1] = self:destination(math.floor(cells / 3), cells)
  local is_new = proposal:is_new_file()
  local note = { is_new and " (new file)" or " (proposed)", "Note" }
  local hunk = { ("  %s "):format(self:hunk_words()), "Count" }
  local rest = winbar.width({ note, hunk }) + winbar.width(self:keys(wide, 0))
  if wide or is_new and winbar.width(parts) + rest <= cells then
    parts[#parts + 1] = note
  end
  parts[#parts + 1] = hunk
  parts[#parts + 1] = "%<"
  local hints = self:keys(wide, cells - winbar.width(parts))
  local counts = self:counts()
  if winbar.width(parts) + winbar.width(counts) + winbar.width(hints) <= cells then
    vim.list_extend(parts, counts)
  end
  if #self.layout.windows == 1 then
    vim.list_extend(parts, self:warnings())
  end
  parts[#parts + 1] = "%="
  return vim.list_extend(parts, hints)
end

---Brings the bars up to date with the cursor, and with the windows' sizes. Of the proposal they
---show what was found last: to look through a big one takes too long for each key.
function Bars:show()
  for _, win in ipairs(self.layout.windows) do
    local buf = api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win)
    local of = buf == self.proposal.new_buf and self.of_new
      or buf == self.proposal.old_buf and self.of_old
    if of then
      local parts = of(self, api.nvim_win_get_width(win))
      winbar.set(win, winbar.render(parts, highlights.name("")))
    end
  end
end

---Looks through the proposal, and brings the bars up to date.
function Bars:update()
  local accepted = self.proposal.accepted:states()
  local list = self.proposal:hunks()
  self.found = {
    hunks = list,
    moved = self.proposal.destination:has_changed(),
    read_only = self.proposal.destination:is_read_only(),
    hidden = hidden.show(self.proposal.new_buf, list),
    accepted = accepted and accepted.count,
    conflicts = self.proposal.merge:has_conflicts(),
    session = owner.name(self.proposal),
  }
  self:show()
end

return M
