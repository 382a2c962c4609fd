--- Whether and when the server starts without being asked: the `auto_start` option.
local M = {
  --- Why it has not started by itself, for :Claude status.
  ---@type string?
  reason = nil,
}

local autocommands = require("claude-code.lib.autocommands")

---@type fun()?
local cancel_watch

---@return string? reason why the server does not start here; nil if it does
---@return boolean? may_change whether another folder can change that
local function reason_against()
  local option = require("claude-code.config").get().auto_start
  local program = option == "auto" and require("claude-code.server.external_editor").program()
  if program then
    return ("this Neovim edits for another program (%s)"):format(program)
  elseif option == false then
    return "auto_start is false"
  elseif option == "auto" and #require("claude-code.lib.workspace").folders() == 0 then
    return "the workspace would be the home folder or one above it", true
  end
end

--- From now on only the user starts the server.
function M.disable()
  M.reason = nil
  autocommands.new("autostart")
  if cancel_watch then
    cancel_watch()
    cancel_watch = nil
  end
end

--- Decides now; if another folder may change the decision, again whenever the folders change.
local function run()
  local server = require("claude-code.server")
  if server.state ~= "stopped" or server.stopped_by_user then
    return M.disable()
  end
  local reason, may_change = reason_against()
  if not reason then
    server.start({ allow_home = require("claude-code.config").get().auto_start == true })
    return M.disable()
  end
  M.reason = reason
  if may_change and not cancel_watch then
    cancel_watch = require("claude-code.lib.workspace").on_change(run)
  end
end

--- From now on the option `auto_start` decides; for the first time once Neovim is up and has drawn its first screen.
function M.enable()
  M.disable()
  if vim.v.vim_did_enter == 1 then
    vim.schedule(run)
    return
  end
  local group = autocommands.new("autostart")
  require("claude-code.server.external_editor").watch(group)
  group:on("VimEnter", vim.schedule_wrap(run))
end

return M
