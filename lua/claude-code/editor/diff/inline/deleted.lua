--- The old lines of a hunk as virtual lines.
local fn = vim.fn
local highlights = require("claude-code.editor.diff.highlights")

---Nobody scrolls through more virtual lines than this; Neovim draws them all each time.
local MOST_LINES = 500

local M = {}

---@alias claude-code.Chunk { [1]: string, [2]: string } text and highlight group

---@param text string
---@param tabstop integer
---@return string text that shows as the same text does in a buffer
local function visible(text, tabstop)
  if not text:find("%c") then
    return text
  end
  local shown, column = "", 0
  for i, piece in ipairs(vim.split(text, "\t", { plain = true })) do
    local gap = i > 1 and tabstop - column % tabstop or 0
    piece = (" "):rep(gap) .. fn.strtrans((piece:gsub("%z", "^@")))
    shown, column = shown .. piece, column + fn.strdisplaywidth(piece)
  end
  return shown
end

---@param line string
---@param tabstop integer
---@return claude-code.Chunk[]
local function chunks(line, tabstop)
  local text = visible(line, tabstop)
  -- To the window's edge, as with lines of the buffer.
  local rest = (" "):rep(math.max(1, vim.o.columns - fn.strdisplaywidth(text)))
  return { { text .. rest, highlights.name("Delete") } }
end

---@param proposal claude-code.Proposal
---@param hunk claude-code.Hunk
---@return claude-code.Chunk[][] virtual lines
function M.lines(proposal, hunk)
  local tabstop = vim.bo[proposal.new_buf].tabstop
  local lines = {}
  for i = 0, math.min(hunk.old_count, MOST_LINES) - 1 do
    lines[#lines + 1] = chunks(proposal.old.lines[hunk.old + i], tabstop)
  end
  local more = hunk.old_count - #lines
  if more > 0 then
    local text = (" … and %d more deleted lines"):format(more)
    lines[#lines + 1] = { { text, highlights.name("Note") } }
  end
  return lines
end

---@param hunk claude-code.Hunk
---@return integer count of its virtual lines
function M.height(hunk)
  return math.min(hunk.old_count, MOST_LINES + 1)
end

return M
