--- Neovim's own message line, used so that it never asks for Enter: while it asks, Neovim answers no
--- RPC, and Claude waits. Nothing that does not fit is shown; the whole text is in `:messages`.
local M = {}

--- Stands where a text was cut, and says where the rest is.
local CUT = "… (:messages)"
--- Where that would leave less of the text than this, "…" alone has to do.
local LEAST = 20

---@return integer cells that a message may take
local function room()
  -- A wide character may leave the last cell of a line empty.
  local lines_above = math.max(vim.o.cmdheight - 1, 0) * (vim.o.columns - 1)
  return math.max(lines_above + vim.v.echospace, 2)
end

---@param text string
---@param cells integer
---@return boolean
local function fits(text, cells)
  return vim.fn.strdisplaywidth(text) <= cells
end

---@param text string
---@param cells integer
---@return string as much of its beginning as fits
local function head(text, cells)
  local count = math.min(vim.fn.strchars(text), cells)
  while count > 1 and not fits(vim.fn.strcharpart(text, 0, count), cells) do
    count = count - 1
  end
  return vim.fn.strcharpart(text, 0, count)
end

---@param text string without line ends
---@param cells integer
---@return string
local function cut(text, cells)
  if fits(text, cells) then
    return text
  end
  local mark = cells >= LEAST + #CUT and CUT or "…"
  return head(text, cells - vim.fn.strdisplaywidth(mark)):gsub("[%s;:,(]+$", "") .. mark
end

---@param text string
---@param cells integer
---@return string[] parts that each fit
local function wrapped(text, cells)
  local parts = {}
  while not fits(text, cells) do
    local part = head(text, cells)
    -- Between two words, if there are any in the second half.
    local last_word = part:match("^.*%s()%S*$")
    if last_word and last_word > #part / 2 then
      part = part:sub(1, last_word - 1)
    end
    table.insert(parts, part)
    text = text:sub(#part + 1)
  end
  return table.insert(parts, text) or parts
end

---@param text string
---@param highlight string
local function keep(text, highlight)
  vim.cmd.redraw()
  vim.cmd.echohl(highlight)
  vim.cmd.echomsg(vim.fn.string(text))
  vim.cmd.echohl("None")
end

--- Puts a line into `:messages`. Only :echomsg does that with the whole of a line of which the screen
--- shows no more than fits, which is what the T of 'shortmess' means.
---@param line string
---@param highlight string
local function remember(line, highlight)
  if vim.o.cmdheight == 0 then
    -- There T does nothing.
    for _, part in ipairs(wrapped(line, room())) do
      keep(part, highlight)
    end
  elseif vim.o.shortmess:find("T", 1, true) then
    keep(line, highlight)
  else
    vim.cmd("noautocmd set shortmess+=T")
    pcall(keep, line, highlight)
    vim.cmd("noautocmd set shortmess-=T")
  end
end

---@param text string
---@return string of one line
local function joined(text)
  return (text:gsub("%s*\n%s*", " "):gsub("%c", " "))
end

--- What there is room for on screen.
---@param name string whose message it is; left out where there is no room for it
---@param text string
---@return string
function M.fit(name, text)
  local cells, line = room(), joined(text)
  local named = name .. ": " .. line
  return fits(named, cells) and named or cut(line, cells)
end

--- Shows a message, and keeps it.
---@param name string whose message it is
---@param text string
---@param highlight string
function M.show(name, text, highlight)
  local shown = M.fit(name, text)
  for line in vim.gsplit(name .. ": " .. text, "\n", { trimempty = true }) do
    line = line:gsub("%c", " ")
    remember(line, highlight)
    if line == shown then
      return
    end
  end
  M.pass(shown, highlight)
end

--- Shows a line that fits, and does not keep it.
---@param line string
---@param highlight? string
function M.pass(line, highlight)
  -- What is there already is written over, not pushed up.
  vim.cmd.redraw()
  vim.api.nvim_echo({ { line, highlight } }, false, {})
end

return M
