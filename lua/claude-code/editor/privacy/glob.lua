--- Globs on paths: `*` and `?` within one part, `[a-z]`, `[!a-z]`, `{a,b}`, and `**` for any number
--- of whole parts.
--- TODO(0.10): vim.glob is right from 0.12 on; in 0.10 `.env*` misses `.env`, `[!a]x` misses `bx`, and
--- `**/.ssh/**` takes `x.ssh/a`.
local M = {}

---@alias claude-code.Glob string[][] alternatives; each a list of Lua patterns, one per part, or "**"

---@param text string
---@param from integer position of the `{`
---@return string[]? choices nil if the brace never closes
---@return integer? close position of its `}`
local function choices(text, from)
  local depth, start, list = 0, from + 1, {}
  for i = from, #text do
    local char = text:sub(i, i)
    if char == "{" then
      depth = depth + 1
    elseif (char == "," and depth == 1) or (char == "}" and depth == 1) then
      list[#list + 1] = text:sub(start, i - 1)
      start = i + 1
      if char == "}" then
        return list, i
      end
    elseif char == "}" then
      depth = depth - 1
    end
  end
end

---@param text string
---@param result string[] receives every spelling of a glob with braces
local function expand(text, result)
  local from = text:find("{", 1, true)
  local list, close
  if from then
    list, close = choices(text, from)
  end
  if not list then
    result[#result + 1] = text
    return
  end
  for _, choice in ipairs(list) do
    expand(text:sub(1, from - 1) .. choice .. text:sub(close + 1), result)
  end
end

---@param text string
---@param from integer position of the `[`
---@return string? class in Lua's terms; nil if the bracket never closes
---@return integer? close position of its `]`
local function class(text, from)
  local negated = text:sub(from + 1, from + 1):find("[!^]") ~= nil
  local start = negated and from + 2 or from + 1
  local close = text:find("]", start + 1, true)
  if not close then
    return nil
  end
  local body = text:sub(start, close - 1):gsub("[%%%]%^]", "%%%0")
  return (negated and "[^" or "[") .. body .. "]", close
end

---@param part string
---@return string pattern
local function translate(part)
  local out, i = { "^" }, 1
  while i <= #part do
    local char = part:sub(i, i)
    local set, close
    if char == "[" then
      set, close = class(part, i)
    end
    if set then
      out[#out + 1], i = set, close --[[@as integer]]
    elseif char == "*" then
      out[#out + 1] = ".*"
    elseif char == "?" then
      out[#out + 1] = "[^\128-\191][\128-\191]*"
    else
      out[#out + 1] = vim.pesc(char)
    end
    i = i + 1
  end
  out[#out + 1] = "$"
  return table.concat(out)
end

---@param glob string
---@return claude-code.Glob
function M.compile(glob)
  local spellings = {}
  expand(glob, spellings)
  return vim.tbl_map(function(spelling)
    return vim.tbl_map(function(part)
      return part == "**" and "**" or translate(part)
    end, vim.split(spelling, "/", { plain = true }))
  end, spellings)
end

---@param patterns string[]
---@param parts string[]
---@param p integer
---@param i integer
---@return boolean
local function match_from(patterns, parts, p, i)
  local pattern = patterns[p]
  if not pattern then
    return i > #parts
  elseif pattern == "**" then
    for skip = i, #parts + 1 do
      if match_from(patterns, parts, p + 1, skip) then
        return true
      end
    end
    return false
  end
  return i <= #parts and parts[i]:find(pattern) ~= nil and match_from(patterns, parts, p + 1, i + 1)
end

---@param glob claude-code.Glob
---@param path string with `/` between its parts
---@return boolean
function M.matches(glob, path)
  local parts = vim.split(path, "/", { plain = true })
  return vim.iter(glob):any(function(patterns)
    return match_from(patterns, parts, 1, 1)
  end)
end

return M
