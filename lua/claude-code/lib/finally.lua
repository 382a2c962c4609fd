---Runs `work`, then `restore`, also if `work` throws. Errors are passed on.
---@param restore fun()
---@param work fun(...): ...
---@param ... any
---@return any ...
return function(restore, work, ...)
  local results = vim.F.pack_len(pcall(work, ...))
  restore()
  if not results[1] then
    error(results[2], 0)
  end
  return unpack(results, 2, results.n)
end
