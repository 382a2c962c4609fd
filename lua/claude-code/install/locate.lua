--- Where the executable is, and how to get one that is missing or outdated.
local M = {}

local plugin_files = require("claude-code.install.plugin_files")
local programs = require("claude-code.programs")

local NAME = require("claude-code.install.executable").NAME

---@alias claude-code.BinarySource "path"|"build"|"managed"|"system"

---@class claude-code.Binary
---@field path string absolute
---@field source claude-code.BinarySource

--- Where the executable is looked for: the first of these that has one.
---@type claude-code.BinarySource[]
M.ORDER = { "build", "managed", "system" }

---@type table<claude-code.BinarySource, fun(): string?> where it may be
local finders = {
  build = function()
    return plugin_files.root() .. "/dist/" .. NAME
  end,
  --- The one of this plugin's version: another Neovim's plugin may have another one installed.
  managed = function()
    local target = require("claude-code.install.target").name()
    local version = require("claude-code.install.contract").version
    return target and require("claude-code.install.store").executable(version, target)
  end,
  system = function()
    return (programs.on_path(NAME))
  end,
}

--- What gets an executable of this plugin's version, for a message.
---@param source? claude-code.BinarySource where the present one is from; nil if there is none
---@return string
function M.remedy(source)
  if source == "system" or (source == "build" and not plugin_files.manifest()) then
    return "upgrade claude-code-nvim with the package manager that installed it"
  elseif source == "path" then
    return "replace that file, or remove binary.path from setup()"
  elseif source == "build" then
    return "run " .. plugin_files.build_command()
  end
  local release, remedy = require("claude-code.install.release").find()
  return release and "run :Claude install" or remedy --[[@as string]]
end

---@param path string as the user wrote it
---@return claude-code.Binary?
---@return string? message
local function configured(path)
  local expanded = vim.fn.fnamemodify(vim.fs.normalize(path), ":p")
  if programs.runs(expanded) then
    return { path = expanded, source = "path" }
  end
  local text = "binary.path is %s, which is not an executable file: %s, then :Claude"
  return nil, text:format(expanded, M.remedy("path"))
end

---@param remedy string
---@param reason? string why nothing can be downloaded
---@return string message what was looked for, and what the user can do
local function not_found(remedy, reason)
  local text = "%s was not found: %s, then :Claude (%slooked in %s, %s, $PATH)"
  local stable = require("claude-code.install.store").stable()
  return text:format(NAME, remedy, reason and reason .. "; " or "", finders.build(), stable)
end

--- One of another version is better than none. Whether it fits shows when it starts.
---@return claude-code.Binary?
function M.other_version()
  local path = vim.uv.fs_realpath(require("claude-code.install.store").stable())
  return path and programs.runs(path) and { path = path, source = "managed" } or nil
end

--- The executable to run under the options in effect.
---@return claude-code.Binary?
---@return string? message what was looked for, and what the user can do
---@return claude-code.Release? release that may be downloaded without a command
function M.find()
  local options = require("claude-code.config").get().binary
  if options.path then
    return configured(options.path)
  end
  for _, source in ipairs(M.ORDER) do
    local path = finders[source]()
    if path and programs.runs(path) then
      return { path = path, source = source }
    end
  end
  local release, remedy, reason = require("claude-code.install.release").find()
  local missing = not_found(remedy or "run :Claude install", reason)
  -- Without a UI, only a command may fetch 50 MB.
  if release and options.download ~= false and #vim.api.nvim_list_uis() > 0 then
    return nil, missing, release
  end
  return M.other_version(), missing
end

return M
