--- Claude's terminal in a floating window over the files. It closes when the cursor goes to a window
--- below it, as for a diff, which it would cover.
local api = vim.api
local placement = require("claude-code.terminal.providers.placement")
local windows = require("claude-code.editor.windows")

local M = {}

local function geometry()
  local share = placement.share()
  local columns, lines = vim.o.columns, vim.o.lines - vim.o.cmdheight
  -- Two cells are for the border.
  local width = math.max(1, math.floor(columns * share) - 2)
  local height = math.max(1, math.floor(lines * share) - 2)
  return {
    relative = "editor",
    width = width,
    height = height,
    row = math.floor((lines - height - 2) / 2),
    col = math.floor((columns - width - 2) / 2),
    -- Neovim 0.10 has no 'winborder'.
    border = (vim.fn.exists("+winborder") == 0 or vim.o.winborder == "") and "rounded" or nil,
  }
end

--- Hides the window when the user goes to one below it. A window that they only pass by does not count.
---@param win integer
---@param hide fun()
function M.hide_when_left(win, hide)
  placement.while_open(win, { "WinEnter", "CursorMoved", "ModeChanged" }, function()
    vim.schedule(function()
      local here = api.nvim_get_current_win()
      if api.nvim_win_is_valid(win) and here ~= win and not windows.is_floating(here) then
        hide()
      end
    end)
  end)
end

--- Opens the window and enters it.
---@param buf integer
---@return integer win
function M.open(buf)
  local win = api.nvim_open_win(buf, true, geometry())
  placement.while_open(win, "VimResized", function()
    api.nvim_win_set_config(win, geometry())
  end)
  M.hide_when_left(win, function()
    api.nvim_win_close(win, true)
  end)
  return win
end

return M
