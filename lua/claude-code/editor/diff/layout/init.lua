--- The ways to show a diff, as `diff.layout` names them; where there is too little room, "inline".
---
--- A layout is an object that shows a prepared proposal in windows. `open` and `close` run with
--- autocommands off.
local busy = require("claude-code.editor.diff.busy")
local diff_tab = require("claude-code.editor.diff.tab")
local hunks = require("claude-code.editor.diff.hunks")
local notify = require("claude-code.messages.notify")
local saved_layout = require("claude-code.editor.windows.layout")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Layout
---@field windows integer[] those that show the diff
---@field win integer the one with the proposal
---@field fits fun(self, except?: integer): boolean is there room? Asked before anything is changed
---@field open fun(self, except?: integer) `except`: window that must not change, as the user types there
---@field is_intact fun(self): boolean did the user leave its windows as they are?
---@field close fun(self): integer?, integer? brings the user's windows back; also after `open` has
--- failed. Of a window that is gone, and the one in its place
---@field refresh fun(self) the proposal was edited
---@field reveal fun(self) the cursor was moved to a hunk

---@param name claude-code.DiffLayout
---@param proposal claude-code.Proposal
---@return claude-code.Layout
local function create(name, proposal)
  if name == "inline" then
    return require("claude-code.editor.diff.layout.inline").new(proposal)
  end
  local direction = name == "horizontal" and "below" or "right"
  return require("claude-code.editor.diff.layout.sides").new(proposal, direction, name == "tab")
end

---@param wanted claude-code.DiffLayout
---@param layout claude-code.Layout
---@param proposal claude-code.Proposal
---@param except? integer
---@return string? reason that only the layout "inline" shows all of it. Brief: read in narrow windows
local function why_inline(wanted, layout, proposal, except)
  if not layout:fits(except) then
    return ("too little room for %q"):format(wanted)
  elseif wanted ~= "inline" and hunks.hides_changes(proposal.old.lines, proposal:lines()) then
    return "'diffopt' hides changes of white space"
  end
end

---The layout that is wanted, or the one that shows all of the diff.
---@param proposal claude-code.Proposal
---@param except? integer
---@return claude-code.Layout
local function pick(proposal, except)
  -- Behind a floating window nothing can be seen of it.
  local wanted = busy.is_in_float() and "tab" or require("claude-code.config").get().diff.layout
  local layout = create(wanted, proposal)
  local reason = why_inline(wanted, layout, proposal, except)
  if not reason then
    return layout
  end
  notify.info("shown inline: " .. reason)
  return create("inline", proposal)
end

---Makes a proposal's buffers and windows; throws if that is not possible, with nothing left behind.
---@param proposal claude-code.Proposal
---@param except? integer window that must not change
---@return claude-code.Layout
---@return claude-code.SavedLayout before
function M.open(proposal, except)
  local layout, saved
  local ok, message = pcall(windows.noautocmd, function()
    proposal:prepare()
    saved = saved_layout.save()
    layout = pick(proposal, except)
    layout:open(except)
  end)
  if not ok then
    if layout then
      pcall(windows.noautocmd, function()
        layout:close()
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
  diff_tab.close(before)
end

return M
