--- The buffer of a CLI in a terminal of Neovim's: its name and its keys, and text that is pasted into it.
local api = vim.api

local M = {}

local NAME = "claude-code://terminal"

---@param name string
---@param except integer
local function wipe_buffer_named(name, except)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= except and api.nvim_buf_get_name(buf) == name then
      vim.cmd.bwipeout({ buf, bang = true, mods = { noautocmd = true } })
    end
  end
end

--- Neovim's own name, `term://…`, names the command without its arguments: a session file (:mksession) with
--- it would start a CLI that is not connected. With ours nothing starts, and plugin/claude-code.lua removes
--- the buffer.
---@param buf integer its command has started
---@param n integer the session's number
function M.name(buf, n)
  local before = api.nvim_buf_get_name(buf)
  local name = n == 1 and NAME or ("%s/%d"):format(NAME, n)
  wipe_buffer_named(name, buf)
  -- The alternate file is the user's.
  vim.cmd.lua({
    ("vim.api.nvim_buf_set_name(%d, %q)"):format(buf, name),
    mods = { keepalt = true, silent = true },
  })
  -- Neovim keeps the old name for another, empty buffer.
  if before ~= "" then
    wipe_buffer_named(before, buf)
  end
end

---@type table<string, { modes: string[], action: string, desc: string }>
local ACTIONS = {
  leave = { modes = { "t" }, action = "<C-\\><C-n>", desc = "Leave terminal mode" },
  toggle = { modes = { "n", "t" }, action = "<Cmd>Claude<CR>", desc = "Hide Claude" },
}

--- The options `terminal.keys`.
---@param buf integer
local function map_keys(buf)
  for name, key in pairs(require("claude-code.config").get().terminal.keys) do
    local entry = ACTIONS[name]
    if key then
      vim.keymap.set(entry.modes, key, entry.action, { buffer = buf, desc = entry.desc })
    end
  end
end

--- Makes a buffer Claude's, once its command has started.
---@param buf integer
---@param n integer the session's number
function M.prepare(buf, n)
  vim.b[buf].claude_code_terminal = true
  M.name(buf, n)
  map_keys(buf)
end

local START, END = "\27[200~", "\27[201~"

--- Control characters are left out, tab and line end aside: with an escape in it, text from a
--- file could end the paste and press keys of its own. U+0080 to U+009F are control characters, too:
--- U+009B begins a sequence as ESC [ does.
---@param text string
---@return string
function M.clean(text)
  text = text:gsub("\r\n?", "\n"):gsub("[%z\1-\8\11-\31\127]", "")
  local count
  repeat
    -- What stood on both sides of one may be another one together.
    text, count = text:gsub("\194[\128-\159]", "")
  until count == 0
  return text
end

--- Pastes text into the program of a terminal: between marks, so that line ends in it do not submit anything.
---@param channel integer
---@param text string
---@param submit? boolean press Enter in the same moment
function M.paste(channel, text, submit)
  api.nvim_chan_send(channel, START .. M.clean(text) .. END .. (submit and "\r" or ""))
end

return M
