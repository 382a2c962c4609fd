--- Files that Claude never sees: neither their text nor their names leave Neovim through any method.
local globs = require("claude-code.editor.privacy.glob")
local paths = require("claude-code.editor.documents.path")
local scope = require("claude-code.editor.documents.scope")
local sources = require("claude-code.editor.documents.sources")

---@class claude-code.PrivacyRule
---@field glob claude-code.Glob
---@field whole boolean matched against the whole path rather than the last part of it
---@field private boolean false for an exception (`!pattern`)

---Verdicts are kept for paths of so many bytes in all, some 10,000 of them.
local MAX_BYTES = 2 ^ 20

---@class claude-code.PrivacyJudge
---@field config? claude-code.PrivacyConfig the options that the rules were made of
---@field rules claude-code.PrivacyRule[]
---@field verdicts table<string, boolean> by path
---@field bytes integer of those paths
local judgement = { rules = {}, verdicts = {}, bytes = 0 }

local M = {}

---`.ENV` and `.env` are one file on many systems, and so are the composed and the decomposed `ü`: drops case and
---accents.
local function fold(text)
  if not text:find("[\128-\255]") then
    return text:lower()
  end
  text = vim.fn.tolower(vim.fn.toupper(text))
  for letter in ("abcdefghijklmnopqrstuvwxyz"):gmatch(".") do
    text = vim.fn.substitute(text, "[[=" .. letter .. "=]]", letter, "g")
  end
  -- U+0300 to U+036F, which combine with the letter before them; U+200B to U+200F, which are invisible.
  for _, characters in ipairs({ "\204[\128-\191]", "\205[\128-\175]", "\226\128[\139-\143]" }) do
    text = text:gsub(characters, "")
  end
  return text
end

---@param pattern string as the user wrote it
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

local function current_rules()
  local config = require("claude-code.config").get().privacy
  if judgement.config == config then
    return judgement.rules
  end
  local defaults = config.defaults and require("claude-code.editor.privacy.defaults") or {}
  local rules = vim.iter({ defaults, config.patterns }):flatten():map(compile):totable()
  judgement = { config = config, rules = rules, verdicts = {}, bytes = 0 }
  return rules
end

---@return string whole folded
---@return string[] names folded, any of which a URL may mean; only the last one for a path
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
  local list = current_rules()
  local verdict = judgement.verdicts[path]
  if verdict ~= nil then
    return verdict
  end
  local whole, names = subjects(path)
  verdict = false
  for _, rule in ipairs(list) do
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

---Is this file hidden from Claude, however its path is spelled? The names of buffers that show no file may contain that
---of a private one (`fugitive://….env`).
---@param path string absolute, or a buffer's name
function M.is_private(path)
  if path == "" or sources.is_url(path) then
    return path ~= "" and (scope.hides(path) or judge(path))
  end
  local name = paths.normal(path)
  if judge(name) then
    return true
  end
  -- A link with an innocent name. Not cached: it costs 5 µs, and links change.
  local real = paths.real(name)
  return scope.hides(real) or (real ~= name and judge(real))
end

---Is the text of a buffer, or its name, that of a private file?
---@param buf integer 0: the current one
function M.hides(buf)
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  -- The name of a proposal's buffer has only the last part of the path.
  local file = vim.b[buf].claude_code_file
  local read_from = sources.of(buf)
  return M.is_private(file or vim.api.nvim_buf_get_name(buf))
    or read_from == nil
    or vim.iter(read_from):any(function(name)
      return judge(name) or scope.hides(paths.real(name))
    end)
end

---For a client that asks for the current file without naming it: the name is private too.
M.UNNAMED_REFUSAL = "the current file is private: Claude cannot see it (option privacy.patterns)"

---For a user or a client that names such a file.
function M.refusal(path)
  local base = paths.base(path)
  if scope.hides(paths.real(paths.normal(path))) then
    return base .. " is in no folder that this Claude and Neovim share"
  end
  return ("%s is private: `!%s` in privacy.patterns would let Claude see it"):format(base, base)
end

return M
