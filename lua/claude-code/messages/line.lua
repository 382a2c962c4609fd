--- Neovim's own message line, used so that it never asks for Enter: while it asks, Neovim answers no
--- RPC, and Claude waits. One line that fits is shown; the whole text is in the log.
local M = {}

--- Ends a text that was cut.
local CUT, CUT_BUT_LOGGED = "…", "… :Claude log"
--- The short mark has to do if the longer one would leave fewer cells than this for the text.
local LEAST = 20

--- Draws the screen now. A syntax pattern that takes too much memory for a line (E363) would else be an
--- error of the code that draws, and a stack trace for which Neovim asks for Enter.
---@return boolean drawn
function M.redraw()
  return (pcall(vim.cmd.redraw))
end

---@param cells integer
local function head(text, cells)
  return (vim.fn.printf(("%%.%dS"):format(cells), text):gsub("[%s;:,(]+$", ""))
end

--- What to do comes last, after the only semicolon: it stays, and what is cut comes before. Where it is
--- too long by itself, the last of its clauses are left out.
---@param text string without line ends
---@param cells integer
---@return string?
local function cut_before_remedy(text, cells)
  local cause, remedy = text:match("^([^;]*);( [^;]+)$")
  while remedy do
    -- The semicolon, or what ends a text that was cut, takes one cell.
    local rest = cells - vim.fn.strdisplaywidth(remedy) - 1
    if vim.fn.strdisplaywidth(cause) <= rest then
      return cause .. ";" .. remedy
    elseif rest >= LEAST then
      return head(cause, rest) .. CUT .. remedy
    end
    remedy = remedy:match("^(.*), ")
  end
end

---@param text string without line ends
---@param cells integer
---@param is_logged? boolean
local function cut(text, cells, is_logged)
  local has_room = cells >= LEAST + vim.fn.strdisplaywidth(CUT_BUT_LOGGED)
  local mark = is_logged and has_room and CUT_BUT_LOGGED or CUT
  return cut_before_remedy(text, cells) or head(text, cells - vim.fn.strdisplaywidth(mark)) .. mark
end

--- The plugin's name is left out where there is no room for it.
---@param is_logged? boolean
local function fit(text, is_logged)
  local line = text:gsub("%s*\n%s*", " "):gsub("%c", " ")
  local cells = math.max(vim.v.echospace, 2)
  for _, candidate in ipairs({ "claude-code.nvim: " .. line, line }) do
    if vim.fn.strdisplaywidth(candidate) <= cells then
      return candidate
    end
  end
  return cut(line, cells, is_logged)
end

local GROUP = "claude-code.line"

--- Milliseconds after which a message is not shown again: what it says may be past.
local AGE = 60000

--- With 'showmode' the name of the mode takes the line in insert, visual, select and terminal mode. In
--- visual and select mode Neovim (0.10.4, 0.12.4) first keeps a message there for 3 s or until a key is
--- typed, and answers no RPC in that time. So the mode is drawn at once, and the message again when the
--- mode ends: of a terminal in any window, else in the one where it began.
---@param chunks [string, string?][]
---@param mode string
local function show_after_mode(chunks, mode)
  local win, at = vim.api.nvim_get_current_win(), vim.uv.now()
  local is_terminal = mode == "t"
  if not is_terminal then
    M.redraw()
  end
  vim.api.nvim_create_autocmd("ModeChanged", {
    group = GROUP,
    pattern = { "*:n", "t:nt" },
    once = true,
    callback = vim.schedule_wrap(function()
      local is_here = is_terminal or vim.api.nvim_get_current_win() == win
      local is_normal = vim.startswith(vim.api.nvim_get_mode().mode, "n")
      if is_here and is_normal and vim.uv.now() - at < AGE then
        vim.api.nvim_echo(chunks, false, {})
      end
    end),
  })
end

---@param text string
---@param highlight? string nil: `:messages` does not get it
---@param is_logged? boolean whether the log has the whole text
function M.show(text, highlight, is_logged)
  -- What is there already is written over, not pushed up.
  M.redraw()
  local chunks = { { fit(text, is_logged), highlight } }
  vim.api.nvim_echo(chunks, highlight ~= nil, {})
  vim.api.nvim_create_augroup(GROUP, { clear = true })
  local mode = vim.api.nvim_get_mode().mode
  if vim.o.showmode and mode:find("^[vV\22sS\19iRt]") then
    show_after_mode(chunks, mode)
  end
end

return M
