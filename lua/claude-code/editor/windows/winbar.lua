--- The bars ('winbar') of our windows: their text, cut to the room there is, and whose bar a window has.
local api, fn = vim.api, vim.fn
local visible = require("claude-code.lib.text").visible
require("claude-code.lib.highlights")

local M = {}

---An item as in 'statusline', or text and its highlight group; without one that of the part before it.
---@alias claude-code.BarPart string|{ [1]: string, [2]?: string }
---@class claude-code.BarHint
---@field keys (string?)[] those of one action, or of two that belong together
---@field words string
---@field is_needed? boolean it is there without room, too

---Restored when ours is hidden. A window that is split off has our bar, but no copy of this.
local REPLACED = "claude_code_winbar"

---@param ... claude-code.BarPart|false|nil false and nil are left out
---@return claude-code.BarPart[]
function M.parts(...)
  local parts = {}
  for index = 1, select("#", ...) do
    parts[#parts + 1] = select(index, ...) or nil
  end
  return parts
end

---@param parts claude-code.BarPart[]
---@return string for 'winbar'
function M.render(parts)
  return table.concat(vim.tbl_map(function(part)
    if type(part) == "string" then
      return part
    end
    -- A name may hold characters that turn the direction of what follows.
    local text = visible(part[1]):gsub("%%", "%%%%")
    local group = part[2] and ("%%#%s#"):format(part[2]) or ""
    return group .. text
  end, parts)) .. "%*"
end

---@param parts claude-code.BarPart[]
---@return integer cells
function M.width(parts)
  local cells = 0
  for _, part in ipairs(parts) do
    local text = type(part) == "table" and visible(part[1]) or part:gsub("%%.", "")
    cells = cells + fn.strdisplaywidth(text)
  end
  return cells
end

---@param cells integer
---@param keep "head"|"tail"
---@return string text no wider than that
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

---@return string keys "" if its action has none
local function names_of(hint)
  return table.concat(vim.tbl_values(hint.keys), " ")
end

---Keys and what they do. Words are dropped before keys; needed keys stay.
---@param hints claude-code.BarHint[] the most important last
---@param room integer in cells
---@return claude-code.BarPart[]
function M.hints(hints, room)
  hints = vim.tbl_filter(function(hint)
    return names_of(hint) ~= ""
  end, hints)
  local parts ---@type claude-code.BarPart[]
  -- Drops the words of one more hint each time, then one more hint.
  for dropped = 0, 2 * #hints do
    parts = {}
    for i, hint in ipairs(hints) do
      if hint.is_needed or i > dropped - #hints then
        parts[#parts + 1] = { "  " .. names_of(hint), "ClaudeCodeBarKey" }
        parts[#parts + 1] = i > dropped and { " " .. hint.words, "ClaudeCodeNote" } or nil
      end
    end
    if M.width(parts) <= room then
      break
    end
  end
  return parts
end

function M.set(win, text)
  if vim.wo[win].winbar ~= text then
    api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
  end
end

---@return string? value that is not ours; "" if the global one counts there
local function other_value(win, mark)
  local value = api.nvim_get_option_value("winbar", { win = win, scope = "local" })
  return not vim.startswith(value, mark) and value or nil
end

---Shows a bar in place of the window's own, and of one that was set since then.
---@param mark string begins the text: a window that is split off has a copy of it, and a buffer that was shown with it
--- brings it back
---@param text? string
function M.show(win, mark, text)
  local other = other_value(win, mark)
  if other then
    vim.w[win][REPLACED] = other
  end
  M.set(win, mark .. (text or ""))
end

---Shows what the window had, unless another bar was set.
---@param mark string
function M.hide(win, mark)
  if not other_value(win, mark) then
    M.set(win, vim.w[win][REPLACED] or "")
  end
  vim.w[win][REPLACED] = nil
end

---Calls back when a bar may have to change. Other plugins set theirs by a timer, or at some of these events.
---@param events claude-code.Autocommands
function M.follow(events, callback)
  -- Neovim reports another current window as a moved cursor, too.
  events:on({ "CursorMoved", "CursorMovedI", "CursorHold", "WinResized" }, callback)
  -- Autocommands do not nest: no plugin answers when we set it again.
  events:on("OptionSet", callback, { pattern = "winbar" })
end

return M
