--- The CLI in a terminal buffer of Neovim's own. Its window comes and goes, the job stays.
local api = vim.api
local buffer = require("claude-code.terminal.providers.buffer")
local window = require("claude-code.terminal.providers.window")

---@class claude-code.NativeTerminal: claude-code.BufferTerminal
---@field private mode claude-code.TerminalMode
local Terminal = setmetatable({}, { __index = buffer.Terminal })
Terminal.__index = Terminal

---@class claude-code.NativeProvider: claude-code.Provider
local M = {}

---@param n integer number of a session that ends
---@return integer? buf of the session with the next number that runs, or else of the first one
local function next_to(n)
  local open = buffer.open()
  local next = vim.iter(open):find(function(terminal)
    return terminal.n > n
  end)
  return (next or open[1] or {}).buf
end

--- The window of a session that ends shows another one that runs, or else it closes.
---@param n? integer number of its session
local function discard(buf, n)
  if api.nvim_buf_is_valid(buf) then
    local other = n and next_to(n)
    if other then
      window.replace(buf, other)
    end
    window.hide(buf)
    api.nvim_buf_delete(buf, { force = true })
  end
end

---@return boolean does it show what a CLI has left that ended by itself?
local function has_ended(buf)
  return vim.b[buf].claude_code_terminal == true
    and vim.bo[buf].buftype == "terminal"
    and not buffer.is_known(buf)
    and not buffer.runs(buf)
end

---@return integer job 0 or less if it cannot be started
local function start(win, command, options)
  local job = api.nvim_win_call(win, function()
    if vim.fn.has("nvim-0.11") == 0 then
      return vim.fn.termopen(command, options) -- TODO(0.10)
    end
    options.term = true
    return vim.fn.jobstart(command, options)
  end)
  -- Many have `autocmd TermOpen * startinsert`.
  if api.nvim_get_current_win() ~= win and api.nvim_get_mode().mode == "n" then
    vim.cmd.stopinsert()
  end
  return job
end

function M.open(launch)
  vim.iter(api.nvim_list_bufs()):filter(has_ended):each(discard)
  local before, buf = api.nvim_get_current_win(), api.nvim_create_buf(false, true)
  ---@type claude-code.NativeTerminal
  local terminal = setmetatable({ buf = buf }, Terminal)
  -- The window comes first: the command asks for its size at once.
  local ok, job = pcall(start, window.show(buf), launch.command, {
    env = launch.env,
    cwd = launch.folder,
    on_exit = function(_, code)
      terminal:on_exit(launch, code, terminal.mode:is_on(), function()
        discard(buf, terminal.n)
      end)
    end,
  })
  if not ok or job <= 0 then
    discard(buf)
    local reason = not ok and job or "it is not executable"
    return nil, ("%s cannot be started: %s; see terminal.command"):format(launch.command[1], reason)
  end
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = window.FILETYPE
  buffer.add(terminal, launch.n)
  local function is_open()
    return terminal:is_open()
  end
  window.keep(buf, is_open)
  local terminal_mode = require("claude-code.terminal.providers.terminal_mode")
  terminal.mode = terminal_mode.follow(buf, is_open)
  terminal.mode:enter(before)
  return terminal
end

function Terminal:close()
  if self:forget() then
    self.mode:cancel()
    discard(self.buf, self.n)
  end
end

--- Shows it in the window of another terminal of Claude's, if there is one in this tab page.
function Terminal:focus()
  local before = api.nvim_get_current_win()
  window.show(self.buf)
  self.mode:enter(before)
end

function Terminal:toggle()
  if self:is_visible() then
    window.hide(self.buf)
  else
    self:focus()
  end
end

return M
