--- Keys of a buffer for as long as its hunks wait for a decision. In a file of the user's, `gr` leaves `grn`, `grr`
--- and the like to Neovim and to other plugins: Neovim waits 'timeoutlen' for the rest. Nothing here remembers
--- which buffers have them: Neovim is asked, since it clears a buffer's mappings by itself (`:bdelete`).
local api, fn = vim.api, vim.fn

local M = {}

---@class claude-code.Key
---@field keys string|string[]|false as the option for it says
---@field desc string
---@field modes? string[] normal mode if left out
---@field nowait? boolean a longer mapping that begins with it has no meaning in this buffer; nor has it in a list
---@field run fun(mode: string, key: string)

---@alias claude-code.KeyOwner
---| "diff"
---| "original" what language servers answer in a diff
---| "review"

---@class claude-code.Mapped
---@field owner claude-code.KeyOwner
---@field before table the buffer's own mapping, as of maparg(); empty if it had none

---By the functions that our mappings call. It forgets those of mappings that Neovim cleared.
local mapped = setmetatable({}, { __mode = "k" }) ---@type table<function, claude-code.Mapped>

---@param option string|string[]|false
---@return string[] keys possibly none
function M.of(option)
  return type(option) == "string" and { option } or option or {}
end

local function map(buf, owner, mode, key, entry)
  local before = api.nvim_buf_call(buf, function()
    local found = fn.maparg(key, mode, false, true)
    return found.buffer == 1 and found or {}
  end)
  if mapped[before.callback] then
    return
  end
  local function run()
    require("claude-code.messages.notify").guard(entry.run, mode, key)
  end
  mapped[run] = { owner = owner, before = before }
  local nowait = entry.nowait or vim.bo[buf].buftype == "quickfix"
  vim.keymap.set(mode, key, run, { buffer = buf, desc = entry.desc, nowait = nowait })
end

---Removes them, by whatever name the options have for them now. One that the user has set since then stays.
---@param buf integer
---@param owner claude-code.KeyOwner
function M.unmap(buf, owner)
  for _, mode in ipairs(api.nvim_buf_is_valid(buf) and { "n", "x" } or {}) do
    for _, mapping in ipairs(api.nvim_buf_get_keymap(buf, mode)) do
      local ours = mapped[mapping.callback]
      if ours and ours.owner == owner then
        api.nvim_buf_del_keymap(buf, mode, mapping.lhs)
        if next(ours.before) then
          api.nvim_buf_call(buf, function()
            fn.mapset(mode, false, ours.before)
          end)
        end
      end
    end
  end
end

---Maps what the buffers do not have yet; what another owner has mapped there stays. A mapping of a buffer's own
---comes back with `unmap`.
---@param buffers integer[]
---@param owner claude-code.KeyOwner
---@param entries claude-code.Key[]
---@return fun() unmap
function M.map(buffers, owner, entries)
  for _, buf in ipairs(buffers) do
    for _, entry in ipairs(entries) do
      for _, key in ipairs(M.of(entry.keys)) do
        for _, mode in ipairs(entry.modes or { "n" }) do
          map(buf, owner, mode, key, entry)
        end
      end
    end
  end
  return function()
    for _, buf in ipairs(buffers) do
      M.unmap(buf, owner)
    end
  end
end

return M
