--- Groups of autocommands.
local api = vim.api

local M = {}

---@class claude-code.Autocommands
---@field id integer
local Autocommands = {}
Autocommands.__index = Autocommands

---@param name string of the group, which is cleared, after "claude-code."
function M.new(name)
  local id = api.nvim_create_augroup("claude-code." .. name, { clear = true })
  return setmetatable({ id = id }, Autocommands)
end

---Calls back for BufWritePost only if the write reached the buffer's file. The buffer is still modified after a failed
---or cancelled write (W12), or a write to another file.
---@param events string|string[]
---@param callback fun(buf: integer, args: vim.api.keyset.create_autocmd.callback_args)
---@param options? vim.api.keyset.create_autocmd
---@return integer id of the autocommand
function Autocommands:on(events, callback, options)
  local all = { group = self.id }
  function all.callback(args)
    if args.event ~= "BufWritePost" or not vim.bo[args.buf].modified then
      callback(args.buf, args)
    end
  end
  return api.nvim_create_autocmd(events, vim.tbl_extend("error", all, options or {}))
end

---May be called again.
function Autocommands:stop()
  pcall(api.nvim_del_augroup_by_id, self.id)
end

return M
