--- A provider that the user wrote: a table of functions. Its open() returns a table with the other
--- functions, for the terminal that it opened; or true, and then the functions of the provider itself
--- are those of its only terminal.
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

---@alias claude-code.Opened boolean|claude-code.TerminalFunctions|nil

---@class claude-code.TerminalProvider: claude-code.TerminalFunctions
---@field open fun(command: string[], env: table<string, string>, folder: string): claude-code.Opened, string?

local ONE = "the functions of terminal.provider are for one Claude, which runs already; "
  .. ":Claude close ends it, and :help claude-code-terminal-provider shows how to have several"

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
  local function running()
    local is_open = provider.is_open and provider.is_open()
    return is_open and terminal_of(provider) or nil
  end
  local function open(launch)
    if running() then
      return nil, ONE
    end
    local opened, message = provider.open(launch.command, launch.env, launch.folder)
    if type(opened) == "table" then
      return terminal_of(opened)
    elseif not opened and message then
      return nil, message
    end
    return running()
  end
  local function adopt()
    local terminal = running()
    return terminal and { { terminal = terminal, session = {} } } or {}
  end
  return { open = open, adopt = adopt }
end

return M
