--- Where the window of Claude's terminal opens and how big it is: its share of the screen, and what the user
--- made of that.
local api = vim.api

local M = {}

---@alias claude-code.Dimension "width"|"height"
---@alias claude-code.TerminalPosition "left"|"right"|"top"|"bottom"|"float"

--- Cells that position "auto" gives Claude at least: with fewer the CLI (2.1.330) cuts its questions.
local LEAST = { width = 60, height = 12 }
--- Cells that it leaves for the file beside it.
local FOR_FILE = { width = 50, height = 8 }
--- Cells that the other windows keep in any case.
local FOR_OTHERS = { width = 10, height = 3 }

local function options()
  return require("claude-code.config").get().terminal
end

---@return claude-code.TerminalPosition
function M.position()
  local position = options().position
  if position ~= "auto" then
    return position
  end
  return vim.o.columns > LEAST.width + FOR_FILE.width and "right" or "bottom"
end

---@param position claude-code.TerminalPosition
---@return claude-code.Dimension dimension in which a window there has its share of the screen
function M.dimension(position)
  return (position == "left" or position == "right") and "width" or "height"
end

---@return number share of the editor's width or height; of both, for a float
function M.share()
  return options().size or options().position == "float" and 0.8 or 0.36
end

---@param dimension claude-code.Dimension
---@param chosen? integer cells that the user gave the window
---@return integer cells
function M.size(dimension, chosen)
  local total = dimension == "width" and vim.o.columns or vim.o.lines - vim.o.cmdheight - 1
  local cells = chosen or math.floor(total * M.share())
  if not chosen and options().position == "auto" then
    cells = math.max(cells, math.min(LEAST[dimension], total - 1 - FOR_FILE[dimension]))
  end
  return math.max(1, math.min(cells, total - 1 - FOR_OTHERS[dimension]))
end

--- Cells that the user last gave the window.
---@type table<claude-code.Dimension, integer?>
local chosen = {}

---@param win integer
---@param dimension claude-code.Dimension
---@return integer cells
function M.get(win, dimension)
  return api["nvim_win_get_" .. dimension](win)
end

---@param win integer
---@param dimension claude-code.Dimension
---@param cells integer
function M.set(win, dimension, cells)
  api["nvim_win_set_" .. dimension](win, cells)
end

---@param dimension claude-code.Dimension
---@return integer cells
function M.wanted(dimension)
  return M.size(dimension, chosen[dimension])
end

--- Calls `callback` at these events for as long as the window is there.
---@param win integer
---@param events string|string[]
---@param callback fun()
function M.while_open(win, events, callback)
  api.nvim_create_autocmd(events, {
    callback = function()
      if not api.nvim_win_is_valid(win) then
        return true
      end
      callback()
    end,
  })
end

--- Remembers the size that the user gives the window, and fits it to a screen that changes.
---@param win integer
---@param is_terminal fun(win: integer): boolean the window may show something else later
---@param dimension claude-code.Dimension
---@return fun() notice called when the window closes
function M.follow(win, is_terminal, dimension)
  local columns, lines, cells
  local function remember()
    columns, lines, cells = vim.o.columns, vim.o.lines, M.get(win, dimension)
  end
  local function is_same_screen()
    return columns == vim.o.columns and lines == vim.o.lines
  end
  local function has_terminal()
    local may_stay = options().position == "auto" or M.dimension(M.position()) == dimension
    -- One that is alone has all the room, whatever the user wants. A tab page that is closing is gone already.
    local ok, is_alone = pcall(require("claude-code.editor.windows").is_last, win)
    return is_terminal(win) and may_stay and ok and not is_alone
  end
  local function notice()
    local reason = vim.w[win].claude_code_yields
    if reason and not api.nvim_win_is_valid(reason) then
      vim.w[win].claude_code_yields = nil
      M.set(win, dimension, cells)
    elseif
      not reason
      and is_same_screen()
      and has_terminal()
      and M.get(win, dimension) ~= cells
    then
      remember()
      chosen[dimension] = cells
    end
  end
  local function fit()
    local is_here = vim.list_contains(api.nvim_tabpage_list_wins(0), win)
    if is_here and not is_same_screen() and has_terminal() then
      M.set(win, dimension, M.wanted(dimension))
      remember()
    end
  end
  remember()
  -- The windows of other tab pages get their sizes when these are entered.
  for event, callback in pairs({ WinResized = notice, VimResized = fit, TabEnter = fit }) do
    M.while_open(win, event, callback)
  end
  return notice
end

--- As after a split by hand: with 'equalalways' the other windows share the room that is left.
---@param dimension claude-code.Dimension
function M.equalize_others(dimension)
  local direction = dimension == "width" and "hor" or "ver"
  local before = vim.o.eadirection
  if vim.o.equalalways and (before == "both" or before == direction) then
    -- Setting it makes all equal, in the direction named.
    local mods = { noautocmd = true }
    vim.cmd.set({ "eadirection=" .. direction, "noequalalways", "equalalways", mods = mods })
    vim.cmd.set({ "eadirection=" .. before, mods = mods })
  end
end

return M
