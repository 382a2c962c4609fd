--- Autocommands of one job, which end together.
local api = vim.api

local M = {}

---@class claude-code.Autocommands
---@field id integer
local Autocommands = {}
Autocommands.__index = Autocommands

---@param name string behind "claude-code."; those that there are of this name end
---@return claude-code.Autocommands
function M.new(name)
  local id = api.nvim_create_augroup("claude-code." .. name, { clear = true })
  return setmetatable({ id = id }, Autocommands)
end

---A write (BufWritePost) is one that reached the buffer's file. Neovim reports one that failed, that the user took back
---(W12), and one to another file, too: the buffer stays modified.
---@param events string|string[]
---@param callback fun(buf: integer, args: vim.api.keyset.create_autocmd.callback_args)
---@param options? vim.api.keyset.create_autocmd
---@return integer id of this one
function Autocommands:on(events, callback, options)
  local all = { group = self.id }
  function all.callback(args)
    if args.event ~= "BufWritePost" or not vim.bo[args.buf].modified then
      callback(args.buf, args)
    end
  end
  return api.nvim_create_autocmd(events, vim.tbl_extend("error", all, options or {}))
end

---Ends all of them. Again: does nothing.
function Autocommands:stop()
  pcall(api.nvim_del_augroup_by_id, self.id)
end

return M
