--- The CLI in a pane of the tmux that Neovim runs in. tmux starts it, so it inherits nothing from
--- Neovim: what it needs is passed along.
---@class claude-code.TmuxProvider: claude-code.TerminalProvider
local M = {}

local TIMEOUT_MS = 2000
local BUFFER = "claude-code.nvim"

---@type string? the pane's id
local pane

---@param arguments string[]
---@param input? string
---@return string? output nil if tmux failed
---@return string? message
local function tmux(arguments, input)
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
  local placement = require("claude-code.terminal.placement")
  local position = placement.position()
  local is_vertical = position == "float" or placement.dimension(position) == "width"
  local dimension = is_vertical and "width" or "height"
  local arguments = { is_vertical and "-h" or "-v", "-l", tostring(placement.size(dimension)) }
  local before = position == "left" or position == "top"
  return before and vim.list_extend(arguments, { "-b" }) or arguments
end

--- tmux takes a semicolon at an argument's end for the end of its command.
---@param argument string
---@return string
local function literal(argument)
  return (argument:gsub(";$", "\\;"))
end

--- tmux expands formats in a folder's name: one that is called `#(…)` would be run.
---@param folder string
---@return string
local function without_formats(folder)
  return (folder:gsub("#", "##"))
end

---@return string? window in which Neovim's own pane is
local function own_window()
  return tmux({ "display-message", "-p", "-t", vim.env.TMUX_PANE or "", "#{window_id}" })
end

---@return boolean
local function is_visible()
  local window = tmux({ "display-message", "-p", "-t", pane or "", "#{window_id}" })
  return window ~= nil and window == own_window()
end

local function show()
  local arguments = { "join-pane", "-s", pane, "-t", vim.env.TMUX_PANE }
  tmux(vim.list_extend(arguments, place()))
end

function M.open(command, env, folder)
  if (vim.env.TMUX or "") == "" then
    return false,
      'terminal.provider is "tmux", but Neovim does not run in tmux; start it there, or set '
        .. 'terminal.provider to "native"'
  end
  local arguments = { "split-window", "-P", "-F", "#{pane_id}", "-c", without_formats(folder) }
  vim.list_extend(arguments, { "-t", vim.env.TMUX_PANE })
  vim.list_extend(arguments, place())
  for name, value in pairs(env) do
    vim.list_extend(arguments, { "-e", literal(("%s=%s"):format(name, value)) })
  end
  -- Through env(1): a lone word would be handed to a shell.
  table.insert(arguments, "/usr/bin/env")
  local message
  pane, message = tmux(vim.list_extend(arguments, vim.tbl_map(literal, command)))
  if not pane then
    return false, ("tmux did not open a pane for Claude: %s"):format(message)
  end
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("claude-code.terminal", { clear = true }),
    callback = M.close,
  })
  return true
end

function M.is_open()
  if not pane then
    return false
  end
  local id = tmux({ "display-message", "-p", "-t", pane, "#{pane_id}" })
  if id ~= pane then
    pane = nil
  end
  return pane ~= nil
end

M.is_visible = is_visible

function M.close()
  if M.is_open() then
    tmux({ "kill-pane", "-t", pane })
    pane = nil
  end
end

function M.focus()
  if not is_visible() then
    show()
  end
  tmux({ "select-pane", "-t", pane })
end

function M.toggle()
  if is_visible() then
    tmux({ "break-pane", "-d", "-s", pane })
  else
    M.focus()
  end
end

function M.send(text)
  if not M.is_open() then
    return false
  end
  tmux({ "load-buffer", "-b", BUFFER, "-" }, require("claude-code.terminal.paste").clean(text))
  -- -p: as a paste, if the program asked for that; -r: line ends as they are.
  return tmux({ "paste-buffer", "-p", "-r", "-d", "-b", BUFFER, "-t", pane }) ~= nil
end

function M.submit()
  tmux({ "send-keys", "-t", pane, "Enter" })
end

return M
