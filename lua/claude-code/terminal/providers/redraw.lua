--- Neovim (0.10 to 0.12) loses a row of a terminal whose window gets smaller and bigger in one moment, and its
--- program, whose size is the same, does not draw again. The tab line does that as the last tab page but one closes.
local timer = require("claude-code.lib.timer")

local M = {}

--- Neovim hands a new size to the program after 10 ms, and a busy program looks at it some time later.
local NEOVIM_MS, PROGRAM_MS = 50, 150

---@param terminal claude-code.BufferTerminal
---@param fewer integer rows
local function resize(terminal, fewer)
  local width, height = 0, 0
  for _, win in ipairs(vim.fn.win_findbuf(terminal.buf)) do
    local info = vim.fn.getwininfo(win)[1]
    width, height = math.max(width, info.width - info.textoff), math.max(height, info.height)
  end
  if height > fewer and terminal:is_open() then
    vim.fn.jobresize(vim.bo[terminal.buf].channel, width, height - fewer)
  end
end

--- Lets programs draw again after the tab line is gone: they get another size, and then their own.
---@param terminals fun(): claude-code.BufferTerminal[]
function M.follow(terminals)
  require("claude-code.lib.autocommands").new("terminal.redraw"):on("TabEnter", function()
    timer.once(NEOVIM_MS, function()
      if vim.o.showtabline ~= 1 or #vim.api.nvim_list_tabpages() > 1 then
        return
      end
      for _, terminal in ipairs(terminals()) do
        resize(terminal, 1)
        timer.once(PROGRAM_MS, function()
          resize(terminal, 0)
        end)
      end
    end)
  end)
end

return M
