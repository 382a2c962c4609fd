--- Where the executable is, and how to get one that is missing or outdated.
local M = {}

local programs = require("claude-code.programs")
local releases = require("claude-code.install.release")
local store = require("claude-code.install.store")

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
  build = releases.build_path,
  --- The one of this plugin's version: another Neovim's plugin may have another one installed.
  managed = function()
    local target = releases.target()
    local version = require("claude-code.install.contract").version
    return target and store.executable(version, target)
  end,
  system = function()
    return (programs.on_path(NAME))
  end,
}

--- What gets an executable of this plugin's version, for a message.
---@param source? claude-code.BinarySource where the present one is from; nil if there is none
---@return string
function M.remedy(source)
  if source == "system" or (source == "build" and not releases.manifest()) then
    return "upgrade claude-code-nvim with the package manager that installed it"
  elseif source == "path" then
    return "replace that file, or remove binary.path from setup()"
  elseif source == "build" then
    return "run " .. releases.build_command()
  end
  local release, remedy = releases.find()
  return release and "run :Claude install" or remedy --[[@as string]]
end

--- The executable to run under the options in effect.
---@return claude-code.Binary?
---@return string? message what was looked for, and what the user can do
---@return claude-code.Release? release that may be downloaded without a command
---@return string? what the message without what the user can do
function M.find()
  local options = require("claude-code.config").get().binary
  if options.path then
    local path = vim.fn.fnamemodify(vim.fs.normalize(options.path), ":p")
    if programs.runs(path) then
      return { path = path, source = "path" }
    end
    local what = ("binary.path is %s, which is not an executable file"):format(path)
    return nil, ("%s: %s, then :Claude"):format(what, M.remedy("path")), nil, what
  end
  for _, source in ipairs(M.ORDER) do
    local path = finders[source]()
    if path and programs.runs(path) then
      return { path = path, source = source }
    end
  end
  local release, remedy, reason = releases.find()
  local why = reason and reason .. "; " or ""
  local places = ("(%slooked in %s, %s, $PATH)"):format(why, finders.build(), store.stable())
  local text = "%s was not found: %s, then :Claude %s"
  local missing = text:format(NAME, remedy or "run :Claude install", places)
  -- Without a UI, only a command may fetch 50 MB.
  local may_download = options.download ~= false and #vim.api.nvim_list_uis() > 0
  return nil, missing, may_download and release or nil, NAME .. " was not found " .. places
end

--- Calls back with the executable: at once if it is there, or cannot be had; otherwise once an
--- installation that runs already, or a download that the options allow, has ended.
---@param callback fun(binary: claude-code.Binary?, message: string?)
function M.get(callback)
  local binary, missing, release = M.find()
  if binary then
    if binary.source == "managed" then
      -- Hooks call the stable path: after a return to an older plugin it still led to the newer version.
      local done, failure = pcall(store.set_current, binary.path)
      if not done then
        require("claude-code.messages.log").warn("%s", failure.message)
      end
    end
    return callback(binary)
  end
  local installer = require("claude-code.install")
  if not release and not installer.is_running() then
    return callback(nil, missing)
  end
  local is_ours = not installer.is_running()
  installer.start({ release = release }, function(executable, message)
    if executable and is_ours then
      require("claude-code.messages.notify").info(message)
    end
    callback(executable and { path = executable, source = "managed" }, message)
  end)
end

return M
