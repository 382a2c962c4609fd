---Lets the user choose an item, and runs nothing if they choose none.
---@param label fun(item): string
---@param run fun(item)
---@param kind? string for pickers
return function(prompt, items, label, run, kind)
  local options = { prompt = prompt, format_item = label, kind = kind }
  vim.ui.select(items, options, function(item)
    if item then
      run(item)
    end
  end)
end
