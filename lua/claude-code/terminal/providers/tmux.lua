--- The CLI in a pane of the tmux in which Neovim runs. tmux starts it, so that it inherits nothing from Neovim.
local programs = require("claude-code.programs")
local window = require("claude-code.terminal.window")

---@class claude-code.TmuxTerminal: claude-code.Terminal
---@field private pane string its id
local Terminal = { where = "tmux" }
Terminal.__index = Terminal

---@type claude-code.TerminalProvider
local M = {}

local TIMEOUT_MS = 2000

--- Another Neovim may paste at the same time.
local BUFFER = ("claude-code.nvim.%d"):format(vim.uv.os_getpid())

--- Option of a pane that outlives Neovim: `PID.N`, the process of the Neovim that shows it, and the session's number.
local OWNER = "@claude_code_nvim"

---@type table<string, claude-code.TmuxTerminal> by their panes
local terminals = {}

local function is_around()
  return (vim.env.TMUX or "") ~= ""
end

function M.check()
  if not is_around() then
    return "Neovim does not run in tmux",
      'start Neovim in tmux, or set terminal.provider to "native"'
  end
end

---@param arguments string[] all users of the machine can read them
---@return string? output nil if tmux failed
---@return string? message
local function run(arguments, input)
  local program, missing = programs.on_path("tmux")
  if not program then
    return nil, missing
  end
  local command = vim.list_extend({ program }, arguments)
  local ok, started = pcall(vim.system, command, { text = true, stdin = input })
  if not ok then
    return nil, ("%s cannot be started: %s"):format(program, started)
  end
  local result = started:wait(TIMEOUT_MS)
  if result.code ~= 0 then
    return nil, vim.trim(result.stderr or "")
  end
  return vim.trim(result.stdout or "")
end

--- Panes cannot float, so the position "float" means the right.
---@return string[] arguments for place and size
local function place()
  local position = window.position()
  local is_vertical = position == "float" or window.dimension(position) == "width"
  local dimension = is_vertical and "width" or "height"
  local arguments = { is_vertical and "-h" or "-v", "-l", tostring(window.size(dimension)) }
  local before = position == "left" or position == "top"
  return before and vim.list_extend(arguments, { "-b" }) or arguments
end

--- tmux ends a command at a trailing semicolon.
local function literal(argument)
  return (argument:gsub(";$", "\\;"))
end

---@return string[] ids of the panes on screen with Neovim's
local function panes_beside()
  local output = run({ "list-panes", "-t", vim.env.TMUX_PANE, "-F", "#{pane_id}" })
  return vim.split(output or "", "\n")
end

---@return claude-code.TmuxTerminal? terminal on screen with Neovim
local function beside()
  local pane = vim.iter(panes_beside()):find(function(pane)
    return terminals[pane]
  end)
  return terminals[pane or ""]
end

--- Swapping panes changes no sizes.
local function swap(pane, other)
  run({ "swap-pane", "-d", "-s", pane, "-t", other.pane })
  run({ "select-pane", "-t", pane })
end

--- Do new panes outlive this Neovim?
local function is_kept()
  return require("claude-code.config").get().terminal.keep and is_around()
end

local function own_tag(number)
  return ("%d.%d"):format(vim.uv.os_getpid(), number)
end

local function add(pane, fields)
  fields.pane = pane
  terminals[pane] = setmetatable(fields, Terminal)
  return terminals[pane]
end

--- Marks a pane for the next Neovim.
---@return boolean done
local function tag(pane, number)
  local output, message = run({ "set-option", "-p", "-t", pane, OWNER, own_tag(number) })
  if not output then
    local text = "Claude's pane will end with Neovim, as tmux cannot tag it: %s"
    require("claude-code.messages.notify").warn(text:format(message))
  end
  return output ~= nil
end

--- tmux would pass a single word to a shell, so env(1) runs every command. A pane that outlives Neovim does not inherit
--- its socket, which another Neovim may own later; its hooks find the next Neovim by the folder.
local function command(launch)
  local words = { "/usr/bin/env" }
  if is_kept() then
    vim.list_extend(words, { "-u", "NVIM" })
  end
  -- env(1) would take such a name for a variable.
  if launch.command[1]:find("=", 1, true) then
    vim.list_extend(words, { "/bin/sh", "-c", 'exec "$0" "$@"' })
  end
  return vim.list_extend(words, vim.tbl_map(literal, launch.command))
end

---@param other? claude-code.TmuxTerminal on screen with Neovim
---@return string[] arguments of tmux
local function open_arguments(launch, other)
  local what = other and "new-window" or "split-window"
  -- tmux expands formats in a folder's name, and would run `#(…)`.
  local folder = launch.folder:gsub("#", "##")
  local arguments = { what, "-P", "-F", "#{pane_id} #{pane_pid}", "-c", folder }
  if other then
    table.insert(arguments, "-d")
  else
    vim.list_extend(arguments, { "-t", vim.env.TMUX_PANE })
    vim.list_extend(arguments, place())
  end
  for name, value in pairs(launch.env) do
    vim.list_extend(arguments, { "-e", literal(("%s=%s"):format(name, value)) })
  end
  return vim.list_extend(arguments, command(launch))
end

function M.open(launch)
  local other = beside()
  local output, message = run(open_arguments(launch, other))
  local pane, pid = (output or ""):match("^(%%%d+) (%d+)$")
  if not pane then
    return nil, ("tmux did not open a pane for Claude: %s"):format(message or output)
  end
  if other then
    swap(pane, other)
  end
  local outlives = is_kept() and tag(pane, launch.number)
  return add(pane, { pid = tonumber(pid), outlives = outlives })
end

--- Several Neovims may start at once. tmux gives each pane to one of them.
local function take(pane, owner, number)
  local is_same = ("#{==:#{%s},%s}"):format(OWNER, owner)
  local set = ("set-option -p -t %s %s %s"):format(pane, OWNER, own_tag(number))
  local done = " ; display-message -p taken"
  return run({ "if-shell", "-F", "-t", pane, is_same, set .. done }) == "taken"
end

--- Takes the workspace's panes that outlived their Neovim, or that this Neovim left when it reloaded the plugin.
function M.left()
  local format = ("#{pane_id} #{pane_pid} #{pane_dead} #{%s} #{pane_current_path}"):format(OWNER)
  local output = is_kept() and run({ "list-panes", "-a", "-F", format }) or ""
  local taken = {} ---@type claude-code.Terminal[]
  for line in vim.gsplit(output, "\n") do
    local pane, pid, owner, number, folder = line:match("^(%%%d+) (%d+) 0 (%d+)%.(%d%d?%d?) (/.*)$")
    local is_left = pane
      and not terminals[pane]
      and (tonumber(owner) == vim.uv.os_getpid() or not programs.is_alive(tonumber(owner)))
      and require("claude-code.sessions.sources").is_covered(folder)
    number = tonumber(number)
    if is_left and take(pane, owner .. "." .. number, number) then
      local fields = { pid = tonumber(pid), number = number, folder = folder, outlives = true }
      table.insert(taken, add(pane, fields))
    end
  end
  return taken
end

function Terminal:is_visible()
  return vim.list_contains(panes_beside(), self.pane)
end

function Terminal:close()
  run({ "kill-pane", "-t", self.pane })
  terminals[self.pane] = nil
end

function Terminal:hide()
  run({ "break-pane", "-d", "-s", self.pane })
end

function Terminal:show()
  local other = beside()
  if other then
    return swap(self.pane, other)
  end
  run(vim.list_extend({ "join-pane", "-s", self.pane, "-t", vim.env.TMUX_PANE }, place()))
end

function Terminal:focus()
  run({ "select-pane", "-t", self.pane })
end

function Terminal:send(text, submit)
  run({ "load-buffer", "-b", BUFFER, "-" }, text)
  -- -p: a bracketed paste, if the program supports it; -r: unchanged line ends.
  if not run({ "paste-buffer", "-p", "-r", "-d", "-b", BUFFER, "-t", self.pane }) then
    return false
  elseif submit then
    run({ "send-keys", "-t", self.pane, "Enter" })
  end
end

return M
