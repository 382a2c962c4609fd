--- Files that Claude never sees: neither their text nor their names leave Neovim through the
--- selection, mentions, diagnostics, resources or any other method.
local M = {}

---Files that usually hold secrets. Matched as those of the option `privacy.patterns`.
M.DEFAULTS = {
  ".env*",
  "*.env",
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".htpasswd",
  ".git-credentials",
  ".vault-token",
  "id_rsa*",
  "id_dsa*",
  "id_ecdsa*",
  "id_ed25519*",
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "*.jks",
  "*.keystore",
  "*.kdbx",
  "*.ppk",
  "*.gpg",
  "credentials",
  "credentials.json",
  "service-account*.json",
  "secrets.{json,toml,yaml,yml}",
  ".ssh/**",
  ".gnupg/**",
  ".aws/**",
  ".kube/config",
  ".docker/config.json",
  ".config/gh/hosts.yml",
  ".password-store/**",
}

---@class claude-code.PrivacyRule
---@field glob claude-code.Glob
---@field whole boolean matched against the whole path rather than the last part of it
---@field private boolean false for an exception (`!pattern`)

local rules ---@type claude-code.PrivacyRule[]?
local rules_of ---@type claude-code.PrivacyConfig? the options that the rules were made of
local verdicts = {} ---@type table<string, boolean>
local generation = 0

---@param pattern string as the user wrote it
---@return claude-code.PrivacyRule
local function compile(pattern)
  local private = pattern:sub(1, 1) ~= "!"
  local text = private and pattern or pattern:sub(2)
  local whole = text:find("/", 1, true) ~= nil
  if vim.startswith(text, "~/") then
    text = vim.fs.normalize(text, { expand_env = false })
  elseif whole and text:sub(1, 1) ~= "/" and not text:find("^%a:/") then
    text = "**/" .. text
  end
  return {
    glob = require("claude-code.editor.privacy.glob").compile(text:lower()),
    whole = whole,
    private = private,
  }
end

---@return claude-code.PrivacyRule[]
local function current_rules()
  local config = require("claude-code.config").get().privacy
  if rules and rules_of == config then
    return rules
  end
  rules, rules_of, verdicts = {}, config, {}
  generation = generation + 1
  for _, patterns in ipairs({ config.defaults and M.DEFAULTS or {}, config.patterns }) do
    for _, pattern in ipairs(patterns) do
      rules[#rules + 1] = compile(pattern)
    end
  end
  return rules
end

---@param rule claude-code.PrivacyRule
---@param path string in lower case, with slashes
---@return boolean
local function fits(rule, path)
  local subject = rule.whole and path or path:match("[^/]*$")
  return require("claude-code.editor.privacy.glob").matches(rule.glob, subject)
end

---@param path string
---@return boolean
local function judge(path)
  local list = current_rules()
  local verdict = verdicts[path]
  if verdict ~= nil then
    return verdict
  end
  -- Case is ignored: on many systems `.ENV` and `.env` are one file.
  local whole = path:gsub("\\", "/"):lower()
  -- A revision's buffer may have a colon before the name: `gitsigns:///work/.git//:0:.env`.
  local parted = whole:find("^%a[%w+.-]+:") and whole:gsub(":", "/") or nil
  verdict = false
  for _, rule in ipairs(list) do
    if fits(rule, whole) or (parted and fits(rule, parted)) then
      verdict = rule.private
    end
  end
  verdicts[path] = verdict
  return verdict
end

---Is this file hidden from Claude? Also for names of buffers that show no file, since those
---(`fugitive://….env`) can contain the name of a private one.
---@param path string absolute, or a buffer's name
---@return boolean
function M.is_private(path)
  if path == "" then
    return false
  end
  if judge(path) then
    return true
  end
  -- A link with an innocent name. Not cached: it costs 5 µs, and links change.
  local real = vim.uv.fs_realpath(path)
  return real ~= nil and real ~= path and judge(real)
end

---@param buf integer
---@return boolean
function M.hides(buf)
  -- The name of a proposal's buffer has only the last part of the path.
  local file = vim.b[buf].claude_code_file
  return M.is_private(file or vim.api.nvim_buf_get_name(buf))
end

---For a client that asks for the current file without naming it: the name is private too.
M.UNNAMED_REFUSAL = "the current file is private: Claude cannot see it (option privacy.patterns)"

---For a user or a client that names such a file.
---@param path string
---@return string
function M.refusal(path)
  local base = require("claude-code.editor.documents.path").base(path)
  return ("%s is private: `!%s` in privacy.patterns would let Claude see it"):format(base, base)
end

---Grows when the options change: verdicts of an earlier generation may be wrong.
---@return integer
function M.generation()
  current_rules()
  return generation
end

return M
