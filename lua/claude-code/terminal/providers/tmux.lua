--- The CLI in a pane of the tmux that Neovim runs in. tmux starts it, so it inherits nothing from
--- Neovim: what it needs is passed along.
local adoption = require("claude-code.tmux.adoption")
local run = require("claude-code.tmux").run

---@class claude-code.TmuxTerminal: claude-code.Terminal
---@field private pane string its id
---@field private program claude-code.ProcessTag
---@field private folder string in which the CLI was started
---@field private drawn? boolean
local Terminal = { where = "tmux" }
Terminal.__index = Terminal

---@class claude-code.TmuxProvider: claude-code.Provider
local M = {}

--- Another Neovim may paste in the same moment.
local BUFFER = ("claude-code.nvim.%d"):format(vim.uv.os_getpid())
local MOST_NAME = 80

---@type table<string, claude-code.TmuxTerminal> those that nobody has ended, by their panes
local terminals = {}

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
---@param argument string
local function literal(argument)
  return (argument:gsub(";$", "\\;"))
end

--- tmux expands formats in a folder's name: one that is called `#(…)` would be run.
local function without_formats(folder)
  return (folder:gsub("#", "##"))
end

---@return string? window in which Neovim's own pane is
local function own_window()
  return run({ "display-message", "-p", "-t", vim.env.TMUX_PANE or "", "#{window_id}" })
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
---@param pane string
---@param other claude-code.TmuxTerminal
local function swap(pane, other)
  run({ "swap-pane", "-d", "-s", pane, "-t", other.pane })
  run({ "select-pane", "-t", pane })
end

local function follow_neovim()
  require("claude-code.lib.autocommands").new("terminal"):on("VimLeavePre", function()
    for _, terminal in pairs(terminals) do
      if not (adoption.is_on() and terminal:tag(os.time())) then
        terminal:close()
      end
    end
  end)
end

---@param pane string
---@param pid integer of what runs there
---@return claude-code.TmuxTerminal
local function add(pane, pid, folder)
  local program = require("claude-code.tmux.tag").of_process(pid)
  local fields = { pane = pane, pid = pid, program = program, folder = folder }
  terminals[pane] = setmetatable(fields, Terminal)
  follow_neovim()
  return terminals[pane]
end

--- A lone word would be handed to a shell, so it all goes through env(1). A pane that outlives Neovim
--- does not name its socket, which may be another Neovim's later: the port and the folder lead there.
---@param launch claude-code.TerminalLaunch
local function command(launch)
  local words = { "/usr/bin/env" }
  if adoption.is_on() then
    vim.list_extend(words, { "-u", "NVIM" })
  end
  -- For env(1) that would be one more variable.
  if launch.command[1]:find("=", 1, true) then
    vim.list_extend(words, { "/bin/sh", "-c", 'exec "$0" "$@"' })
  end
  return vim.list_extend(words, vim.tbl_map(literal, launch.command))
end

---@param launch claude-code.TerminalLaunch
---@param other? claude-code.TmuxTerminal that is beside Neovim
---@return string[] arguments of tmux
local function open_arguments(launch, other)
  local arguments =
    { other and "new-window" or "split-window", "-P", "-F", "#{pane_id} #{pane_pid}" }
  vim.list_extend(arguments, { "-c", without_formats(launch.folder) })
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
  if not require("claude-code.tmux").is_around() then
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
  local terminal = add(pane, tonumber(pid) --[[@as integer]], launch.folder)
  terminal.n = launch.n
  if adoption.is_on() then
    terminal:tag_or_warn()
  end
  return terminal
end

function M.adopt()
  local line = require("claude-code.sessions.one_line")
  return vim.tbl_map(function(found) ---@param found claude-code.LeftPane
    local left = found.tag
    return {
      terminal = add(found.pane, left.program.pid, left.cwd),
      session = {
        n = left.n,
        id = left.id,
        name = line(left.name, MOST_NAME),
        worktree = line(left.worktree, MOST_NAME),
        cwd = left.cwd,
      },
      port = left.port,
    }
  end, adoption.take())
end

--- Tags all panes that outlive Neovim again, as the server has another port or token now.
function M.tag_all()
  for _, terminal in pairs(adoption.is_on() and terminals or {}) do
    terminal:tag_or_warn()
  end
end

--- Lets the next Neovim adopt it.
---@private
---@param ended? integer when Neovim ends, in seconds
---@return true? tagged
---@return string? message
function Terminal:tag(ended)
  local server = require("claude-code.server")
  local row = require("claude-code.sessions").get(self.n) or {}
  return adoption.tag(self.pane, {
    program = self.program,
    port = server.port,
    token = server.port and require("claude-code.server.endpoint").token(),
    ended = ended,
    cwd = self.folder,
    n = self.n,
    id = row.id,
    name = row.name,
    worktree = row.worktree,
  })
end

---@private
function Terminal:tag_or_warn()
  local tagged, message = self:tag()
  if not tagged then
    local text = "Claude's pane ends with Neovim, as tmux cannot tag it: %s"
    require("claude-code.messages.notify").warn(text:format(message))
  end
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
  local window = run({ "display-message", "-p", "-t", self.pane, "#{window_id}" })
  return window ~= nil and window == own_window()
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
