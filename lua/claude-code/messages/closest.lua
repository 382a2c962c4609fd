--- "Did you mean …?"

--- The number of edits between two words: a character more or less, another one, or two that changed
--- places (Levenshtein, Damerau).
local function distance(a, b)
  local before, previous = nil, vim.fn.range(#b + 1)
  for i = 1, #a do
    local current = { i }
    for j = 1, #b do
      local substitution = previous[j] + (a:byte(i) == b:byte(j) and 0 or 1)
      current[j + 1] = math.min(previous[j + 1] + 1, current[j] + 1, substitution)
      if before and j > 1 and a:sub(i - 1, i) == b:sub(j - 1, j):reverse() then
        current[j + 1] = math.min(current[j + 1], before[j - 1] + 1)
      end
    end
    before, previous = previous, current
  end
  return previous[#b + 1]
end

--- The known word that the user most likely meant: one that is spelled almost like it.
---@param unknown string
---@param known string[]
---@param edits? fun(known: string): integer? how far one is, where its spelling does not say it
---@return string?
return function(unknown, known, edits)
  local best, best_distance = nil, math.max(1, math.floor(#unknown / 5)) + 1
  for _, key in ipairs(known) do
    local d = edits and edits(key) or distance(unknown, key)
    if d < best_distance then
      best, best_distance = key, d
    end
  end
  return best
end
