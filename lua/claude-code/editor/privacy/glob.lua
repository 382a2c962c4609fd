--- Matches globs against paths: `*` and `?` within one part, `[a-z]`, `[!a-z]`, `{a,b}`, and `**` for any number of
--- whole parts. TODO(0.10): vim.glob is correct from 0.12 on; in 0.10 `.env*` misses `.env`, `[!a]x` misses `bx`, and
--- `**/.ssh/**` matches `x.ssh/a`.
local M = {}

---@alias claude-code.Glob vim.regex

---One character in a pattern of Vim ("very nomagic").
local CHARACTERS = { ["*"] = "\\[^/]\\*", ["?"] = "\\[^/]", ["\\"] = "\\\\" }

---@return string? class that begins at this bracket; nil if it is not closed
---@return integer last position of the class
local function class(text, at)
  local negated, body, behind = text:match("^%[([!^]?)(.[^%]]*)%]()", at)
  if not body then
    return nil, at
  end
  local characters = body:gsub("[\\^%]]", "\\%0")
  return ("\\[%s%s]"):format(negated == "" and "" or "^/", characters), behind - 1
end

local function translate(text)
  local out, at, depth = {}, 1, 0
  while at <= #text do
    local char, piece, last = text:sub(at, at), nil, at
    local is_begin = at == 1 or text:find("^[/{,]", at - 1) ~= nil
    if text:find("^/%*%*%f[/,}%z]", at) then
      piece, last = "\\(/\\.\\*\\)\\?", at + 2
    elseif is_begin and text:find("^%*%*/", at) then
      piece, last = "\\(\\.\\*/\\)\\?", at + 2
    elseif is_begin and text:find("^%*%*%f[,}%z]", at) then
      piece, last = "\\.\\*", at + 1
    elseif char == "[" then
      piece, last = class(text, at)
    elseif char == "{" and text:find("^%b{}", at) then
      piece, depth = "\\(", depth + 1
    elseif char == "," and depth > 0 then
      piece = "\\|"
    elseif char == "}" and depth > 0 then
      piece, depth = "\\)", depth - 1
    end
    out[#out + 1] = piece or CHARACTERS[char] or char
    at = last + 1
  end
  return table.concat(out)
end

---@return claude-code.Glob
function M.compile(glob)
  local ok, pattern = pcall(vim.regex, "\\C\\V\\^" .. translate(glob) .. "\\$")
  -- An invalid glob, such as one with a reversed range, matches its own text.
  return ok and pattern or vim.regex("\\C\\V\\^" .. vim.fn.escape(glob, "\\") .. "\\$")
end

---@param path string with slashes
function M.matches(glob, path)
  return glob:match_str(path) ~= nil
end

return M
