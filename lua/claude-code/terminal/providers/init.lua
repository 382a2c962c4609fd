--- Where the CLI's terminals are: the `terminal.provider` option.
local M = {}

--- The terminal of one session. What a provider cannot do is missing.
---@class claude-code.Terminal
---@field buf? integer its buffer, if it is one of Neovim's own
---@field pid? integer the process that runs in it, where there is no buffer
---@field where? "tmux" nil: in Neovim
---@field n? integer number of its session, once that is known
---@field is_open fun(self): boolean whether its CLI runs, be it hidden
---@field close fun(self) ends it
---@field send fun(self, text: string): boolean? passes text on as a paste
---@field toggle? fun(self) hides it, or shows and focuses it
---@field focus? fun(self) shows and focuses it
---@field submit? fun(self) presses Enter
---@field is_visible? fun(self): boolean whether it is on screen
---@field outlives? boolean whether it stays when Neovim ends
---@field has_drawn? fun(self): boolean whether its program shows something

--- What runs in a terminal.
---@class claude-code.TerminalLaunch
---@field n integer the session's number
---@field command string[]
---@field env table<string, string>
---@field folder string
---@field is_background? boolean its program hands the session to a daemon, and ends
---@field on_exit fun() to be called when it has ended by itself

--- A terminal that outlived the Neovim which opened it.
---@class claude-code.LeftTerminal
---@field terminal claude-code.Terminal
---@field session table of claude-code.SessionRow, what is known of it

--- Starts the command in a terminal of its own, and shows that in the place of one that is shown.
---@class claude-code.Provider
---@field open fun(launch: claude-code.TerminalLaunch): claude-code.Terminal?, string?
---@field take? fun(): claude-code.LeftTerminal[] those of the workspace that no Neovim shows; each is returned once

--- Without a terminal: only the server runs, and the user starts the CLI.
---@type claude-code.Provider
local NONE = {
  open = function()
    return nil,
      'terminal.provider is "none"; start `claude` yourself, in a terminal of this Neovim, or in '
        .. "this folder with /ide"
  end,
}

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

--- A provider that the user wrote. Its open() returns a table of functions for the terminal that it opened.
local function custom(provider)
  return {
    open = function(launch)
      local opened, message = provider.open(launch.command, launch.env, launch.folder)
      assert(not opened or type(opened) == "table", NO_TABLE)
      return opened and terminal_of(opened) or nil, message
    end,
  }
end

---@return claude-code.Provider
function M.get()
  local option = require("claude-code.config").get().terminal.provider
  if type(option) == "table" then
    return custom(option)
  elseif option == "none" then
    return NONE
  end
  return require("claude-code.terminal.providers." .. option)
end

return M
