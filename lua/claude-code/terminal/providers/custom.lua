--- A provider that the user wrote. Its open() returns a table of functions for the terminal that it opened.
local M = {}

---@class claude-code.TerminalFunctions
---@field close fun() ends it
---@field send fun(text: string): boolean? passes text on as a paste
---@field is_open fun(): boolean whether it runs, be it hidden
---@field toggle? fun() hides it, or shows and focuses it
---@field focus? fun() shows and focuses it
---@field submit? fun() presses Enter
---@field is_visible? fun(): boolean whether it is on screen
---@field buf? integer its buffer, if it has one in Neovim

---@alias claude-code.OpenTerminal
---| fun(command: string[], env: table<string, string>, folder: string): claude-code.TerminalFunctions?, string?

---@class claude-code.TerminalProvider
---@field open claude-code.OpenTerminal

local NO_TABLE = "it returns no table; see :help claude-code-terminal-provider"

--- Calls the user's functions without the terminal as first argument.
---@param functions claude-code.TerminalFunctions
---@return claude-code.Terminal
local function terminal_of(functions)
  return setmetatable({}, {
    __index = function(_, name)
      local run = functions[name]
      return type(run) == "function" and function(_, ...)
        return run(...)
      end or run
    end,
  })
end

---@param provider claude-code.TerminalProvider
---@return claude-code.Provider
function M.new(provider)
  return {
    open = function(launch)
      local opened, message = provider.open(launch.command, launch.env, launch.folder)
      assert(not opened or type(opened) == "table", NO_TABLE)
      return opened and terminal_of(opened) or nil, message
    end,
  }
end

return M
