--- Where the CLI's terminal is: the `terminal.provider` option.
local M = {}

--- What a provider is; a user's table has the same functions. There is one CLI at a time. open()
--- starts the command and shows it; where that is impossible it returns false and a message.
---@class claude-code.TerminalProvider
---@field open fun(command: string[], env: table<string, string>, folder: string): boolean?, string?
---@field close fun() ends it
---@field send fun(text: string): boolean? passes text on as a paste
---@field is_open fun(): boolean whether it runs, be it hidden
---@field toggle? fun() hides it, or shows and focuses it
---@field focus? fun() shows and focuses it
---@field submit? fun() presses Enter
---@field is_visible? fun(): boolean whether it is on screen

---@param option "native"|"snacks"|"tmux"|"none"|claude-code.TerminalProvider terminal.provider
---@return claude-code.TerminalProvider
function M.get(option)
  if type(option) == "table" then
    return option
  end
  return require("claude-code.terminal.providers." .. option)
end

return M
