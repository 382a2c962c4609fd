--- The ways to show a diff, as `diff.layout` names them; where there is too little room, "inline".
---
--- A layout is an object that shows a prepared proposal in windows. `open` and `close` run with autocommands off.
local focus = require("claude-code.editor.windows.focus")
local hunks = require("claude-code.editor.changes.hunks")
local notify = require("claude-code.messages.notify")
local places = require("claude-code.editor.diff.place")
local saved_layout = require("claude-code.editor.windows.layout")

local windows = require("claude-code.editor.windows")

---Above these diff mode keeps Neovim still: to find the changed parts of 20,000 unlike lines takes
---Neovim 0.12 1.5 s, and 2,000 hunks take 0.4 s. Changed lines and bytes are those of both sides.
local MAX_CHANGED_LINES = 4000
local MAX_CHANGED_BYTES = 150 * 1000
local MAX_HUNKS = 400

---@alias claude-code.DiffLayout "vertical"|"tab"|"inline"

local M = {}

---@class claude-code.Layout
---@field windows integer[] those that show the diff
---@field win integer the one with the proposal
---@field open fun(self)
---@field is_intact fun(self): boolean did the user leave its windows as they are?
---@field close fun(self): integer?, integer? brings the user's windows back; also after `open` has
--- failed. Of a window that is gone, and the one in its place
---@field even_out fun(self) the screen has another size
---@field is_cramped fun(self): boolean is there too little room left for it?
---@field refresh fun(self) the proposal was edited
---@field reveal fun(self, hunk?: claude-code.Hunk) the cursor was moved to it

local function is_too_big(proposal)
  local found, old, new = proposal:hunks(), proposal.old.lines, proposal:lines()
  if found.added + found.removed > MAX_CHANGED_LINES or #found.list > MAX_HUNKS then
    return true
  end
  local bytes = 0
  for _, hunk in ipairs(found.list) do
    bytes = bytes
      + #table.concat(old, "", hunk.old, hunk.old + hunk.old_count - 1)
      + #table.concat(new, "", hunk.new, hunk.new + hunk.new_count - 1)
  end
  return bytes > MAX_CHANGED_BYTES
end

---@return string? reason that only the layout "inline" shows all of it
local function why_inline(proposal)
  if is_too_big(proposal) then
    return "the change is too big for diff mode"
  elseif hunks.hides_changes(proposal.old.lines, proposal:lines()) then
    return "'diffopt' hides changes of white space"
  end
end

---The layout that is wanted, or the one that shows all of the diff.
---@return claude-code.Layout
local function pick(proposal, except)
  local wanted = require("claude-code.config").get().diff.layout
  -- Nothing stands beside a new file; of one outside of the workspace two bars have room for the warnings.
  local is_new = not proposal.exists and not proposal:is_outside()
  local name = is_new and wanted == "vertical" and "inline" or wanted
  local function place_for(layout)
    return places.choose(layout, proposal.target, except, focus.is_in_float())
  end
  local place = place_for(name)
  local reason = name ~= "inline" and place.fits and why_inline(proposal)
  if reason then
    notify.info("shown inline: " .. reason, "diff.layout")
  end
  if reason or not place.fits then
    name, place = "inline", place_for("inline")
  end
  if name == "inline" or is_new then
    return require("claude-code.editor.diff.inline").new(proposal, place)
  end
  return require("claude-code.editor.diff.sides").new(proposal, place)
end

---Makes a proposal's buffers and windows; throws if that is not possible, with nothing left behind.
---@param proposal claude-code.Proposal
---@param except? integer window that must not change
---@return claude-code.Layout
---@return claude-code.SavedLayout before
function M.open(proposal, except)
  local layout, saved
  local ok, message = pcall(windows.noautocmd, function()
    focus.outside_terminal(function()
      proposal:prepare()
    end)
    saved = saved_layout.save()
    layout = pick(proposal, except)
    layout:open()
  end)
  if not ok then
    if layout then
      pcall(windows.noautocmd, function()
        layout:close()
        saved_layout.restore(saved)
      end)
    end
    proposal:discard()
    error(message, 0)
  end
  return layout, saved
end

---Closes a proposal's windows, those too that the user made by splitting them. With autocommands off.
---@param layout claude-code.Layout
---@param proposal claude-code.Proposal
---@param before claude-code.SavedLayout
---@param origin claude-code.Origin
function M.close(layout, proposal, before, origin)
  for _, buf in ipairs(proposal:buffers()) do
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      if not vim.tbl_contains(layout.windows, win) then
        windows.close(win)
      end
    end
  end
  local gone, instead = layout:close()
  if gone and instead then
    saved_layout.replace(before, gone, instead)
    origin.win = origin.win == gone and instead or origin.win
  end
  places.give_back(before)
end

return M
