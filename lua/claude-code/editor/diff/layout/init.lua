--- The ways to show a diff. `diff.layout` names one of the modules beside this one; where there is
--- no room for it, another one serves.
---
--- A layout is a table of four functions: `open` shows a prepared session and returns its place,
--- `intact` tells whether the person left it as it is, `close` brings the person's windows back;
--- these run with autocommands off. `fits` tells, before anything is changed, whether there is room.
--- `except` is a window that must not change, as the person is typing there.
local M = {}

---@class claude-code.DiffPlace
---@field shot claude-code.SavedLayout how the windows were before
---@field windows integer[] those that show the diff
---@field layout? claude-code.DiffLayoutModule
---@field focus integer the window with the proposal

---@class claude-code.DiffLayoutModule
---@field fits fun(session: claude-code.Diff, except?: integer): boolean
---@field open fun(session: claude-code.Diff, except?: integer): claude-code.DiffPlace
---@field intact fun(session: claude-code.Diff): boolean
---@field close fun(session: claude-code.Diff)
---@field attach? fun(session: claude-code.Diff) its own autocommands
---@field refresh? fun(session: claude-code.Diff) the proposal was edited
---@field reveal? fun(session: claude-code.Diff) the cursor was brought to a hunk

---@param name claude-code.DiffLayout
---@return claude-code.DiffLayoutModule
local function load(name)
  return require("claude-code.editor.diff.layout." .. name)
end

---@param wanted claude-code.DiffLayout
---@param session claude-code.Diff
---@param except? integer
---@return claude-code.DiffLayoutModule
---@return claude-code.DiffLayout name
function M.pick(wanted, session, except)
  local layout = load(wanted)
  if layout.fits(session, except) then
    return layout, wanted
  end
  return load("inline"), "inline"
end

return M
