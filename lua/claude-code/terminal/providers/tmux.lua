--- The CLI in a pane of the tmux that Neovim runs in. tmux starts it, so it inherits nothing from Neovim: we pass what
--- it needs.
local programs = require("claude-code.programs")
local window = require("claude-code.terminal.window")

---@class claude-code.TmuxTerminal: claude-code.Terminal
---@field private pane string its id
---@field private drawn? boolean
local Terminal = { where = "tmux" }
Terminal.__index = Terminal

---@type claude-code.TerminalProvider
local M = {}

local TIMEOUT_MS = 2000

--- Another Neovim may paste in the same moment.
local BUFFER = ("claude-code.nvim.%d"):format(vim.uv.os_getpid())

--- The option of a pane that outlives Neovim: `PID.N`, the Neovim that shows it and the session's number.
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

--- Runs tmux, the server of which Neovim's own pane is a part.
---@param arguments string[] every user of the machine can read them
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

--- A pane cannot float: it opens at the right then.
---@return string[] arguments for the place and the size of a pane
local function place()
  local position = window.position()
  local is_vertical = position == "float" or window.dimension(position) == "width"
  local dimension = is_vertical and "width" or "height"
  local arguments = { is_vertical and "-h" or "-v", "-l", tostring(window.size(dimension)) }
  local before = position == "left" or position == "top"
  return before and vim.list_extend(arguments, { "-b" }) or arguments
end

--- tmux takes a semicolon at an argument's end for the end of its command.
local function literal(argument)
  return (argument:gsub(";$", "\\;"))
end

---@return string[] panes that are on screen with Neovim's
local function panes_beside()
  local output = run({ "list-panes", "-t", vim.env.TMUX_PANE, "-F", "#{pane_id}" })
  return vim.split(output or "", "\n")
end

---@return claude-code.TmuxTerminal? terminal that is beside Neovim
local function beside()
  for _, pane in ipairs(panes_beside()) do
    if terminals[pane] then
      return terminals[pane]
    end
  end
end

--- A pane takes the place of another one, so that no size changes.
local function swap(pane, other)
  run({ "swap-pane", "-d", "-s", pane, "-t", other.pane })
  run({ "select-pane", "-t", pane })
end

--- Panes that are opened now outlive this Neovim.
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

--- Lets the next Neovim find the pane.
---@return boolean done
local function tag(pane, number)
  local output, message = run({ "set-option", "-p", "-t", pane, OWNER, own_tag(number) })
  if not output then
    local text = "Claude's pane ends with Neovim, as tmux cannot tag it: %s"
    require("claude-code.messages.notify").warn(text:format(message))
  end
  return output ~= nil
end

--- A lone word would be handed to a shell, so it all goes through env(1). A pane that outlives Neovim
--- does not name its socket, which may be another Neovim's later: the folder leads to the next one.
local function command(launch)
  local words = { "/usr/bin/env" }
  if is_kept() then
    vim.list_extend(words, { "-u", "NVIM" })
  end
  -- For env(1) that would be one more variable.
  if launch.command[1]:find("=", 1, true) then
    vim.list_extend(words, { "/bin/sh", "-c", 'exec "$0" "$@"' })
  end
  return vim.list_extend(words, vim.tbl_map(literal, launch.command))
end

---@param other? claude-code.TmuxTerminal that is beside Neovim
---@return string[] arguments of tmux
local function open_arguments(launch, other)
  local what = other and "new-window" or "split-window"
  -- tmux expands formats in a folder's name: one that is called `#(…)` would be run.
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

--- Several Neovims may start at once: tmux gives each pane to one of them.
local function take(pane, owner, number)
  local is_same = ("#{==:#{%s},%s}"):format(OWNER, owner)
  local set = ("set-option -p -t %s %s %s"):format(pane, OWNER, own_tag(number))
  local done = " ; display-message -p taken"
  return run({ "if-shell", "-F", "-t", pane, is_same, set .. done }) == "taken"
end

--- Takes the panes of the workspace that outlived their Neovim, or that this one left as it loaded the plugin again.
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

function Terminal:has_drawn()
  -- tmux is not asked again.
  self.drawn = self.drawn
    or (run({ "capture-pane", "-p", "-t", self.pane }) or "gone"):find("%S") ~= nil
  return self.drawn
end

function Terminal:send(text, submit)
  run({ "load-buffer", "-b", BUFFER, "-" }, text)
  -- -p: as a paste, if the program asked for that; -r: line ends as they are.
  if not run({ "paste-buffer", "-p", "-r", "-d", "-b", BUFFER, "-t", self.pane }) then
    return false
  elseif submit then
    run({ "send-keys", "-t", self.pane, "Enter" })
  end
end

return M
