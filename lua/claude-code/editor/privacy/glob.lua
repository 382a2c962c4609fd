--- Globs on paths: `*` and `?` within one part, `[a-z]`, `[!a-z]`, `{a,b}`, and `**` for any number
--- of whole parts.
--- TODO(0.10): vim.glob is right from 0.12 on; in 0.10 `.env*` misses `.env`, `[!a]x` misses `bx`, and
--- `**/.ssh/**` takes `x.ssh/a`.
local M = {}

---@class claude-code.GlobSpelling one of those that the braces of a glob stand for
---@field patterns string[] of Lua, one per part, or "**"
---@field text string is in every path that fits

---@alias claude-code.Glob claude-code.GlobSpelling[]

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

---@param glob string without braces
---@return claude-code.GlobSpelling
local function spelling(glob)
  local text = ""
  for literal in (glob:gsub("%[.*%]", "*")):gmatch("[^*?/[]+") do
    text = #literal > #text and literal or text
  end
  local patterns = vim.tbl_map(function(part)
    return part == "**" and "**" or translate(part)
  end, vim.split(glob, "/", { plain = true }))
  return { patterns = patterns, text = text }
end

---@param glob string
---@return claude-code.Glob
function M.compile(glob)
  local spellings = {}
  expand(glob, spellings)
  return vim.tbl_map(spelling, spellings)
end

---Linear in the parts for each pattern: where parts do not fit, only the last `**` takes one more.
---@param patterns string[]
---@param parts string[]
local function fits(patterns, parts)
  local p, i = 1, 1
  local star, star_from ---@type integer?, integer
  while i <= #parts or p <= #patterns do
    local pattern = patterns[p]
    if pattern == "**" then
      star, star_from, p = p, i, p + 1
    elseif pattern and i <= #parts and parts[i]:find(pattern) then
      p, i = p + 1, i + 1
    elseif star and star_from <= #parts then
      star_from = star_from + 1
      p, i = star + 1, star_from
    else
      return false
    end
  end
  return true
end

---@param glob claude-code.Glob
---@param path string with `/` between its parts
---@return boolean
function M.matches(glob, path)
  local parts ---@type string[]?
  for _, one in ipairs(glob) do
    -- A hundred patterns are tried on each path; few paths have such a text.
    if path:find(one.text, 1, true) then
      parts = parts or vim.split(path, "/", { plain = true })
      if fits(one.patterns, parts) then
        return true
      end
    end
  end
  return false
end

return M
