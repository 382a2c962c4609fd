--- The enclosing function by the look of the text, where nothing knows the language.
local M = {}

local MOST_LINES = 2000

--- A definition's keyword and the name behind it, as many languages write it.
local KEYWORDS = {
  "class",
  "def",
  "fn",
  "func",
  "fun",
  "function",
  "impl",
  "interface",
  "module",
  "proc",
  "struct",
  "sub",
}

---@param line string
---@return string? name
local function defined_name(line)
  for _, keyword in ipairs(KEYWORDS) do
    local name = line:match("^%s*" .. keyword .. "%s+([%w_$][%w_$.:]*)")
      or line:match("^%s*[%w_%s]-%f[%w_]" .. keyword .. "%s+([%w_$][%w_$.:]*)%s*[({:<]")
    if name then
      return (name:gsub("[.:]+$", ""))
    end
  end
  return line:match("^([%a_][%w_]*)%s*%(%)%s*{") -- a shell function
    or line:match("^func%s*%b()%s*([%a_][%w_]*)") -- a method in Go
end

---@param line string
---@return integer
local function indent(line)
  return #line:match("^%s*")
end

---@param buf integer
---@param lnum integer 0-based
---@return string? name
function M.name(buf, lnum)
  local first = math.max(0, lnum - MOST_LINES)
  local lines = vim.api.nvim_buf_get_lines(buf, first, lnum + 1, false)
  local here = lines[#lines] or ""
  local depth = here:find("%S") and indent(here) or math.huge
  local name = defined_name(here)
  for index = #lines - 1, 1, -1 do
    if name then
      return name
    end
    local line = lines[index]
    if line:find("%S") and indent(line) < depth then
      name = defined_name(line)
      -- A closing line at the margin ends what stands above it.
      if not name and indent(line) == 0 and depth ~= math.huge then
        return line:find("^[%]})]") == nil and defined_name(line) or nil
      end
      depth = indent(line)
    end
  end
  return name
end

return M
