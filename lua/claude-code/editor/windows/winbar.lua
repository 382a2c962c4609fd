--- Renders the bars ('winbar') of our windows to fit their width, and remembers the bars that they replace.
local api, fn = vim.api, vim.fn
local visible = require("claude-code.lib.text").visible
require("claude-code.lib.highlights")

local M = {}

---Item of 'statusline', or text with an optional highlight group; by default the group of the part before.
---@alias claude-code.BarPart string|{ [1]: string, [2]?: string }
---@class claude-code.BarHint
---@field keys (string?)[] of one action, or of two related ones
---@field words string
---@field is_needed? boolean its keys remain even if there is no room
---@field is_fact? boolean its words remain, too
---@field decides? boolean it is dropped after the others

---Window variable with the bar to restore. A split window gets a copy of our bar, but not of this variable.
local REPLACED = "claude_code_winbar"

---@param ... claude-code.BarPart|false|nil
---@return claude-code.BarPart[] without false and nil
function M.parts(...)
  local parts = {}
  for index = 1, select("#", ...) do
    parts[#parts + 1] = select(index, ...) or nil
  end
  return parts
end

---@return string for 'winbar'
function M.render(parts)
  return table.concat(vim.tbl_map(function(part)
    if type(part) == "string" then
      return part
    end
    -- A name may contain characters that change the direction of text.
    local text = visible(part[1]):gsub("%%", "%%%%")
    local group = part[2] and ("%%#%s#"):format(part[2]) or ""
    return group .. text
  end, parts)) .. "%*"
end

---@return integer cells
function M.width(parts)
  local cells = 0
  for _, part in ipairs(parts) do
    local text = type(part) == "table" and visible(part[1]) or part:gsub("%%.", "")
    cells = cells + fn.strdisplaywidth(text)
  end
  return cells
end

---@param keep "head"|"tail"
function M.shortened(text, cells, keep)
  text = visible(text)
  local length = fn.strchars(text)
  local count, short = math.max(math.min(length, cells), 1), text
  while fn.strdisplaywidth(short) > cells and count > 0 do
    count = count - 1
    short = keep == "head" and fn.strcharpart(text, 0, count) .. "…"
      or "…" .. fn.strcharpart(text, length - count)
  end
  return short
end

---Shows keys and their words as far as there is room. Drops words before keys, and hints that decide last.
---@param hints claude-code.BarHint[] the most important last
---@param room integer in cells
function M.hints(hints, room)
  local parts, drops, cells = {}, {}, 0
  local function add(text, group, rank)
    local part = { text, group }
    local width = M.width({ part })
    parts[#parts + 1], cells = part, cells + width
    drops[#drops + 1] = rank and { part = part, cells = width, rank = rank } or nil
  end
  for index, hint in ipairs(hints) do
    local names = table.concat(vim.tbl_values(hint.keys), " ")
    if names ~= "" then
      local rank = not hint.is_fact and index + (hint.decides and 2 * #hints or 0) or nil
      add("  " .. names, "ClaudeCodeBarKey", not hint.is_needed and rank and rank + #hints or nil)
      add(" " .. hint.words, "ClaudeCodeNote", rank)
    end
  end
  table.sort(drops, function(a, b)
    return a.rank < b.rank
  end)
  local is_dropped = {}
  for _, drop in ipairs(drops) do
    is_dropped[drop.part] = cells > room
    cells = cells > room and cells - drop.cells or cells
  end
  return vim.tbl_filter(function(part)
    return not is_dropped[part]
  end, parts)
end

function M.set(win, text)
  if vim.wo[win].winbar ~= text then
    api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
  end
end

---@return string? value nil if it is our bar; "" if the global one applies
local function other_value(win, mark)
  local value = api.nvim_get_option_value("winbar", { win = win, scope = "local" })
  return not vim.startswith(value, mark) and value or nil
end

---Replaces the window's own bar, even if a plugin has just set it.
---@param mark string beginning of our bar, to recognize it: splits copy it, and buffers bring it back
function M.show(win, mark, text)
  local other = other_value(win, mark)
  if other then
    vim.w[win][REPLACED] = other
  end
  M.set(win, mark .. (text or ""))
end

---Restores the window's own bar, unless a plugin has set another.
function M.hide(win, mark)
  if not other_value(win, mark) then
    M.set(win, vim.w[win][REPLACED] or "")
  end
  vim.w[win][REPLACED] = nil
end

---Calls back when a bar may have to change. Other plugins set their bars on a timer, or on some of these events.
function M.follow(events, callback)
  -- CursorMoved also fires when another window becomes current.
  events:on({ "CursorMoved", "CursorMovedI", "CursorHold", "WinResized" }, callback)
  -- Autocommands do not nest, so plugins do not react to our bar.
  events:on("OptionSet", callback, { pattern = "winbar" })
end

return M
