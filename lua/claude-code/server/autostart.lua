--- Whether and when the server starts without being asked: the `auto_start` option.
local M = {
  --- Why it has not started by itself, for :Claude status.
  ---@type string?
  reason = nil,
}

---@class claude-code.AutoStartContext
---@field reason? string why "auto" would not start here; nil if it would
---@field folders string[] the workspace folders that would be published
---@field argv string[] Neovim's command line

local autocommands = require("claude-code.lib.autocommands")

---@type fun()?
local cancel_watch

---@return string? reason why "auto" does not start here; nil if it does
---@return boolean? may_change whether another folder can change that
local function reason_against()
  local program = require("claude-code.server.external_editor").program()
  if program then
    return ("this Neovim edits for another program (%s)"):format(program)
  end
  if #require("claude-code.lib.workspace").folders() == 0 then
    return "the workspace would be the home folder or one above it", true
  end
end

---@return boolean start
---@return string? reason why not, or why "auto" would not
---@return boolean? may_change whether to ask again once the folders have changed
local function decide()
  local option = require("claude-code.config").get().auto_start
  if type(option) == "boolean" then
    return option, not option and "auto_start is false" or nil
  end
  local reason, may_change = reason_against()
  if type(option) == "function" then
    local folders = require("claude-code.lib.workspace").folders()
    ---@type claude-code.AutoStartContext
    local context = { reason = reason, folders = folders, argv = vim.deepcopy(vim.v.argv) }
    local ok, answer = pcall(option, context)
    if ok and answer then
      return true, reason
    elseif ok then
      return false, "the function auto_start returned false", true
    end
    local text = 'the function auto_start failed, so "auto" was used: %s'
    require("claude-code.messages.notify").error(text:format(answer))
  end
  return reason == nil, reason, may_change
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
  local start, reason, may_change = decide()
  if start then
    local is_told = require("claude-code.config").get().auto_start == true
    -- The user wants it here, be it the home folder.
    server.start({ allow_home = is_told or reason ~= nil })
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
