--- Decides which files are private: neither their text nor their names leave Neovim through any method.
local globs = require("claude-code.editor.privacy.glob")
local paths = require("claude-code.editor.documents.path")
local scope = require("claude-code.editor.documents.scope")
local sources = require("claude-code.editor.documents.sources")

---@class claude-code.PrivacyRule
---@field glob claude-code.Glob
---@field whole boolean matches the whole path, not only its last part
---@field private boolean false for an exception (`!pattern`)

---Bytes of all paths for which verdicts are kept, about 10,000 paths.
local MAX_BYTES = 2 ^ 20

---@class claude-code.PrivacyJudge
---@field config? claude-code.PrivacyConfig options from which the rules were made
---@field rules claude-code.PrivacyRule[]
---@field verdicts table<string, boolean> by path
---@field bytes integer of the paths in `verdicts`
local judgement = { rules = {}, verdicts = {}, bytes = 0 }

local M = {}

---Drops case and accents: on many systems `.ENV` and `.env` are one file, and so are the composed and decomposed `ü`.
local function fold(text)
  if not text:find("[\128-\255]") then
    return text:lower()
  end
  text = vim.fn.tolower(vim.fn.toupper(text))
  for letter in ("abcdefghijklmnopqrstuvwxyz"):gmatch(".") do
    text = vim.fn.substitute(text, "[[=" .. letter .. "=]]", letter, "g")
  end
  -- U+0300 to U+036F combine with the letter before them; U+200B to U+200F are invisible.
  for _, characters in ipairs({ "\204[\128-\191]", "\205[\128-\175]", "\226\128[\139-\143]" }) do
    text = text:gsub(characters, "")
  end
  return text
end

---@param pattern string of the user
local function compile(pattern)
  local private = pattern:sub(1, 1) ~= "!"
  local text = private and pattern or pattern:sub(2)
  local whole = text:find("/", 1, true) ~= nil
  if vim.startswith(text, "~/") then
    text = vim.fs.normalize(text, { expand_env = false })
  elseif whole and text:sub(1, 1) ~= "/" and not text:find("^%a:/") then
    text = "**/" .. text
  end
  return { glob = globs.compile(fold(text)), whole = whole, private = private }
end

---@return string whole folded path
---@return string[] names folded parts that may be the file's name: all of a URL, the last one of a path
local function subjects(path)
  local url = sources.is_url(path)
  local whole = url and vim.uri_decode(path):gsub("[:?#&=%s]", "/") or path
  whole = fold(whole:gsub("\\", "/"))
  local names = url and vim.split(whole, "/", { plain = true })
  return whole, names or { whole:match(".*/(.*)") or whole }
end

local function fits(rule, whole, names)
  if rule.whole then
    return globs.matches(rule.glob, whole)
  end
  for i = rule.private and 1 or #names, #names do
    if globs.matches(rule.glob, names[i]) then
      return true
    end
  end
  return false
end

local function judge(path)
  local config = require("claude-code.config").get().privacy
  if judgement.config ~= config then
    local defaults = config.defaults and require("claude-code.editor.privacy.defaults") or {}
    local rules = vim.iter({ defaults, config.patterns }):flatten():map(compile):totable()
    judgement = { config = config, rules = rules, verdicts = {}, bytes = 0 }
  end
  local verdict = judgement.verdicts[path]
  if verdict ~= nil then
    return verdict
  end
  local whole, names = subjects(path)
  verdict = false
  for _, rule in ipairs(judgement.rules) do
    if fits(rule, whole, names) then
      verdict = rule.private
    end
  end
  if judgement.bytes > MAX_BYTES then
    judgement.verdicts, judgement.bytes = {}, 0
  end
  judgement.verdicts[path], judgement.bytes = verdict, judgement.bytes + #path
  return verdict
end

---Is this file hidden from Claude, however its path is spelled? A buffer without a file may contain the name of a
---private file in its own name (`fugitive://….env`).
---@param path string absolute, or a buffer's name
function M.is_private(path)
  if path == "" or sources.is_url(path) then
    return path ~= "" and (scope.hides(path) or judge(path))
  end
  local name = paths.normal(path)
  if judge(name) then
    return true
  end
  -- Judge the target of a link. It is not cached: resolving takes 5 µs, and links change.
  local real = paths.real(name)
  return scope.hides(real) or (real ~= name and judge(real))
end

---Does a buffer show the text or the name of a private file?
---@param buf integer 0: the current one
function M.hides(buf)
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  -- The buffer of a proposal has only the last part of the path in its name.
  local file = vim.b[buf].claude_code_file
  local read_from = sources.of(buf)
  return M.is_private(file or vim.api.nvim_buf_get_name(buf))
    or read_from == nil
    or vim.iter(read_from):any(function(name)
      return judge(name) or scope.hides(paths.real(name))
    end)
end

---Answer to a client that has not named the file: the name is private, too.
M.UNNAMED_REFUSAL = "the current file is private: Claude cannot see it (option privacy.patterns)"

---Answer to a user or a client that has named the file.
function M.refusal(path)
  local base = paths.base(path)
  if scope.hides(paths.real(paths.normal(path))) then
    return base .. " is in no folder that this Claude and Neovim share"
  end
  return ("%s is private: `!%s` in privacy.patterns would let Claude see it"):format(base, base)
end

return M
