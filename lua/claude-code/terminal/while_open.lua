local api = vim.api

---Calls `callback` at these events for as long as the window is there.
---@param win integer
---@param events string|string[]
---@param callback fun()
return function(win, events, callback)
  api.nvim_create_autocmd(events, {
    callback = function()
      if not api.nvim_win_is_valid(win) then
        return true
      end
      callback()
    end,
  })
end
