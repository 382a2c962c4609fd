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

---@param option fun(context: claude-code.AutoStartContext): boolean?
---@param reason? string
---@return boolean start
local function call_option(option, reason)
  local ok, answer = pcall(option, {
    reason = reason,
    folders = require("claude-code.lib.workspace").folders(),
    argv = vim.deepcopy(vim.v.argv),
  })
  if ok then
    return answer == true
  end
  local text = 'the function auto_start failed, so "auto" was used: %s'
  require("claude-code.messages.notify").error(text:format(answer))
  return reason == nil
end

---@class claude-code.AutoStartDecision
---@field start boolean
---@field reason? string why not
---@field may_change? boolean whether to ask again once the folders have changed
---@field allow_home? boolean whether the user wants it here, be it the home folder

---@return claude-code.AutoStartDecision
local function decide()
  local option = require("claude-code.config").get().auto_start
  if option == true then
    return { start = true, allow_home = true }
  elseif option == false then
    return { start = false, reason = "auto_start is false" }
  end
  local reason, may_change = reason_against()
  if type(option) == "function" then
    if call_option(option, reason) then
      return { start = true, allow_home = reason ~= nil }
    end
    return { start = false, reason = "the function auto_start returned false", may_change = true }
  end
  return { start = reason == nil, reason = reason, may_change = may_change }
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
  local decision = decide()
  M.reason = decision.reason
  if decision.start then
    server.start({ allow_home = decision.allow_home })
    return M.disable()
  end
  if decision.may_change and not cancel_watch then
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
