---Sorts a list by the first of these fields in which two items differ.
---@generic T: table
---@param list T[] changed
---@param ... string names of the fields
---@return T[] list
return function(list, ...)
  local fields = { ... }
  table.sort(list, function(a, b)
    for _, field in ipairs(fields) do
      if a[field] ~= b[field] then
        return a[field] < b[field]
      end
    end
    return false
  end)
  return list
end
