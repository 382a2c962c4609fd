--- A session file (:mksession) that is written while a diff is on screen, by the user or by a plugin: it
--- is written again with the user's own windows.
local blocked = require("claude-code.editor.windows.blocked")
local restored = require("claude-code.terminal.restored")

local M = {}

---@param name string
---@param options string 'sessionoptions' as they were for the first writing
local function write(name, options)
  local before = vim.o.sessionoptions
  vim.o.sessionoptions = options
  restored.write(name)
  vim.o.sessionoptions = before
end

---@param view claude-code.View
---@param name string
---@param options string
local function rewrite(view, name, options)
  local done = view:give_way(function()
    write(name, options)
  end)
  if not done and view:is_open() then
    blocked.retry(function()
      rewrite(view, name, options)
    end)
  end
end

---@param view claude-code.View
---@param group integer of the autocommands
function M.watch(view, group)
  local known = restored.signature()
  vim.api.nvim_create_autocmd("SessionWritePost", {
    group = group,
    callback = function()
      -- :mkview has this event as well.
      local now = restored.signature()
      if now ~= "" and now ~= known and vim.v.exiting == vim.NIL then
        known = now
        rewrite(view, vim.v.this_session, vim.o.sessionoptions)
      end
    end,
  })
end

return M
