--- Which current window the methods of spec 05 refuse to describe.
local api = vim.api
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")

---They show what programs print, or lines and names of any files, private ones too.
local SPECIAL = { prompt = true, quickfix = true, terminal = true }

local M = {}

---A terminal, a list of places, a file explorer, or a float of a plugin?
---@param win integer
---@param buf integer in it
---@return boolean
local function is_special(win, buf)
  return SPECIAL[vim.bo[buf].buftype] ~= nil
    or require("claude-code.explorers").of_buffer(buf) ~= nil
    or vim.fn.isdirectory(api.nvim_buf_get_name(buf)) == 1
    or (api.nvim_win_get_config(win).relative ~= "" and path.of_buffer(buf) == nil)
end

---@return claude-code.Failure? refusal nil if Claude may see the current window's buffer
function M.of_current()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  if privacy.hides(buf) then
    return privacy.UNNAMED_REFUSAL
  elseif is_special(win, buf) then
    return {
      code = "special",
      message = "the current window shows a terminal, a list or a file explorer: Claude sees only "
        .. "windows with files and text",
    }
  end
end

return M
