--- Keys in the buffer of Claude's terminal: the options `terminal.keys`.
local M = {}

---@type table<string, { modes: string[], action: string, desc: string }>
local ACTIONS = {
  leave = { modes = { "t" }, action = "<C-\\><C-n>", desc = "Leave terminal mode" },
  toggle = { modes = { "n", "t" }, action = "<Cmd>Claude<CR>", desc = "Hide Claude" },
}

---@param buf integer
function M.map(buf)
  for name, key in pairs(require("claude-code.config").get().terminal.keys) do
    local entry = ACTIONS[name]
    if key then
      vim.keymap.set(entry.modes, key, entry.action, { buffer = buf, desc = entry.desc })
    end
  end
end

return M
