--- Where the window of Claude's terminal opens and how big it is, before the user changes that.
local M = {}

---@alias claude-code.Dimension "width"|"height"
---@alias claude-code.TerminalPosition "left"|"right"|"top"|"bottom"|"float"

--- Cells that position "auto" gives Claude at least: with fewer the CLI (2.1.330) cuts its questions.
local LEAST = { width = 60, height = 12 }
--- Cells that it leaves for the file beside it.
local FOR_FILE = { width = 50, height = 8 }
--- Cells that the other windows keep in any case.
local FOR_OTHERS = { width = 10, height = 3 }

---@return table options
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

--- May a window that has its share in this dimension stay where it is?
---@param dimension claude-code.Dimension
---@return boolean
function M.allows(dimension)
  return options().position == "auto" or M.dimension(M.position()) == dimension
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

return M
