--- The CLI in a pane of the tmux that Neovim runs in. tmux starts it, so it inherits nothing from
--- Neovim: what it needs is passed along.
local process = require("claude-code.programs.process")

---@class claude-code.TmuxTerminal: claude-code.Terminal
---@field private pane string its id
---@field pid integer of what runs there
---@field outlives boolean whether it stays when Neovim ends
---@field private drawn? boolean
local Terminal = { where = "tmux" }
Terminal.__index = Terminal

---@class claude-code.TmuxProvider: claude-code.Provider
local M = {}

local TIMEOUT_MS = 2000

--- Another Neovim may paste in the same moment.
local BUFFER = ("claude-code.nvim.%d"):format(vim.uv.os_getpid())

--- The option of a pane that outlives Neovim: `PID.N`, the Neovim that shows it and the session's number.
local OWNER = "@claude_code_nvim"

---@type table<string, claude-code.TmuxTerminal> those that nobody has ended, by their panes
local terminals = {}

---@return boolean does Neovim run in tmux?
function M.is_around()
  return (vim.env.TMUX or "") ~= ""
end

--- Runs tmux, the server of which Neovim's own pane is a part.
---@param arguments string[] every user of the machine can read them
---@param input? string its stdin
---@return string? output nil if tmux failed
---@return string? message
local function run(arguments, input)
  local program, missing = require("claude-code.programs").on_path("tmux")
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

--- A pane cannot float: it goes to the right then.
---@return string[] where a pane goes, and how big it is
local function place()
  local placement = require("claude-code.terminal.providers.placement")
  local position = placement.position()
  local is_vertical = position == "float" or placement.dimension(position) == "width"
  local dimension = is_vertical and "width" or "height"
  local arguments = { is_vertical and "-h" or "-v", "-l", tostring(placement.size(dimension)) }
  local before = position == "left" or position == "top"
  return before and vim.list_extend(arguments, { "-b" }) or arguments
end

--- tmux takes a semicolon at an argument's end for the end of its command.
local function literal(argument)
  return (argument:gsub(";$", "\\;"))
end

---@param pane? string
---@return string? window in which it is
local function window_of(pane)
  return run({ "display-message", "-p", "-t", pane or "", "#{window_id}" })
end

---@return claude-code.TmuxTerminal? terminal that is beside Neovim
local function beside()
  for _, terminal in pairs(terminals) do
    if terminal:is_visible() then
      return terminal
    end
  end
end

--- A pane takes the place of another one, which goes where it was: by that no size changes.
local function swap(pane, other)
  run({ "swap-pane", "-d", "-s", pane, "-t", other.pane })
  run({ "select-pane", "-t", pane })
end

---@return boolean do the panes that are opened now outlive this Neovim?
local function is_kept()
  local options = require("claude-code.config").get().terminal
  return options.provider == "tmux" and options.keep and M.is_around()
end

local function own_tag(n)
  return ("%d.%d"):format(vim.uv.os_getpid(), n)
end

---@param pid integer of what runs there
---@param n integer number of its session
local function add(pane, pid, n, outlives)
  local fields = { pane = pane, pid = pid, n = n, outlives = outlives }
  terminals[pane] = setmetatable(fields, Terminal)
  require("claude-code.lib.autocommands").new("terminal"):on("VimLeavePre", function()
    for _, terminal in pairs(terminals) do
      if not terminal.outlives then
        terminal:close()
      end
    end
  end)
  return terminals[pane]
end

---@return boolean tagged so that the next Neovim finds it
local function tag(pane, n)
  local output, message = run({ "set-option", "-p", "-t", pane, OWNER, own_tag(n) })
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
  local arguments =
    { other and "new-window" or "split-window", "-P", "-F", "#{pane_id} #{pane_pid}" }
  -- tmux expands formats in a folder's name: one that is called `#(…)` would be run.
  local folder = launch.folder:gsub("#", "##")
  vim.list_extend(arguments, { "-c", folder })
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
  if not M.is_around() then
    return nil,
      'terminal.provider is "tmux", but Neovim does not run in tmux; start it there, or set '
        .. 'terminal.provider to "native"'
  end
  local other = beside()
  local output, message = run(open_arguments(launch, other))
  local pane, pid = (output or ""):match("^(%%%d+) (%d+)$")
  if not pane then
    return nil, ("tmux did not open a pane for Claude: %s"):format(message or output)
  end
  if other then
    swap(pane, other)
  end
  local n = launch.n
  return add(pane, tonumber(pid) --[[@as integer]], n, is_kept() and tag(pane, n))
end

--- Several Neovims may start at once: tmux gives each pane to one of them.
---@param owner string its tag
local function take(pane, owner, n)
  local is_same = ("#{==:#{%s},%s}"):format(OWNER, owner)
  local set = ("set-option -p -t %s %s %s ; display-message -p taken"):format(
    pane,
    OWNER,
    own_tag(n)
  )
  return run({ "if-shell", "-F", "-t", pane, is_same, set }) == "taken"
end

--- Takes the panes of the workspace that outlived their Neovim, or that this one has left as it loaded the plugin
--- again.
function M.take()
  local format = ("#{pane_id} #{pane_pid} #{pane_dead} #{%s} #{pane_current_path}"):format(OWNER)
  local output = is_kept() and run({ "list-panes", "-a", "-F", format }) or ""
  local taken = {} ---@type claude-code.LeftTerminal[]
  for line in vim.gsplit(output, "\n") do
    local pane, pid, owner, n, folder = line:match("^(%%%d+) (%d+) 0 (%d+)%.(%d%d?%d?) (/.*)$")
    local is_left = pane
      and not terminals[pane]
      and (tonumber(owner) == vim.uv.os_getpid() or not process.is_alive(tonumber(owner)))
      and require("claude-code.sessions.worktrees").is_covered(folder)
    if is_left and take(pane, owner .. "." .. n, tonumber(n)) then
      local terminal =
        add(pane, tonumber(pid) --[[@as integer]], tonumber(n) --[[@as integer]], true)
      table.insert(taken, { terminal = terminal, session = { n = terminal.n, cwd = folder } })
    end
  end
  return taken
end

function Terminal:is_open()
  local known, format = terminals[self.pane] == self, "#{pane_id} #{pane_dead}"
  -- With remain-on-exit a pane stays after its program.
  if known and run({ "display-message", "-p", "-t", self.pane, format }) ~= self.pane .. " 0" then
    terminals[self.pane] = nil
  end
  return terminals[self.pane] == self
end

function Terminal:is_visible()
  local window = window_of(self.pane)
  return window ~= nil and window == window_of(vim.env.TMUX_PANE)
end

function Terminal:close()
  if self:is_open() then
    run({ "kill-pane", "-t", self.pane })
    terminals[self.pane] = nil
  end
end

---@private
function Terminal:hide()
  run({ "break-pane", "-d", "-s", self.pane })
end

function Terminal:focus()
  local other = not self:is_visible() and beside()
  if other then
    return swap(self.pane, other)
  elseif not self:is_visible() then
    local arguments = { "join-pane", "-s", self.pane, "-t", vim.env.TMUX_PANE }
    run(vim.list_extend(arguments, place()))
  end
  run({ "select-pane", "-t", self.pane })
end

function Terminal:toggle()
  if self:is_visible() then
    self:hide()
  else
    self:focus()
  end
end

function Terminal:has_drawn()
  -- tmux is not asked again.
  self.drawn = self.drawn
    or (run({ "capture-pane", "-p", "-t", self.pane }) or "gone"):find("%S") ~= nil
  return self.drawn
end

function Terminal:send(text)
  local clean = require("claude-code.terminal.providers.buffer").clean
  run({ "load-buffer", "-b", BUFFER, "-" }, clean(text))
  -- -p: as a paste, if the program asked for that; -r: line ends as they are.
  return run({ "paste-buffer", "-p", "-r", "-d", "-b", BUFFER, "-t", self.pane }) ~= nil
end

function Terminal:submit()
  run({ "send-keys", "-t", self.pane, "Enter" })
end

return M
