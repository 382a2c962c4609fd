--- Where the executable is, and how to get one that is missing or outdated.
local M = {}

local NAME = vim.fn.has("win32") == 1 and "claude-code-nvim.exe" or "claude-code-nvim"

---@alias claude-code.BinarySource "path"|"build"|"managed"|"system"

---@class claude-code.Binary
---@field path string absolute
---@field source claude-code.BinarySource

--- The plugin's own folder.
---@return string
function M.root()
  local this = debug.getinfo(1, "S").source:sub(2)
  return vim.fs.normalize(vim.fn.fnamemodify(this, ":p:h:h:h:h"))
end

--- The one stable path of the downloaded executable, for settings of other programs.
---@return string
function M.managed_path()
  return require("claude-code.install.store").stable()
end

---@param path string
---@return boolean
local function runs(path)
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and stat.type == "file" and vim.uv.fs_access(path, "X") == true
end

---@param path string
---@return boolean
local function is_absolute(path)
  return vim.startswith(path, "/") or path:match("^%a:[/\\]") ~= nil
end

--- $PATH without its relative entries: a project's folder must not hand us its own executable
--- (exepath() on Windows looks in the current folder first).
---@return string?
local function on_path()
  local separator = vim.fn.has("win32") == 1 and ";" or ":"
  for _, folder in ipairs(vim.split(vim.env.PATH or "", separator, { plain = true })) do
    local candidate = vim.fs.joinpath(folder, NAME)
    if is_absolute(folder) and runs(candidate) then
      return candidate
    end
  end
end

---@type table<"build"|"managed"|"system", fun(): string?>
local finders = {
  build = function()
    local path = vim.fs.joinpath(M.root(), "dist", NAME)
    return runs(path) and path or nil
  end,
  --- The one of this plugin's version: another Neovim's plugin may have another one installed.
  managed = function()
    local target = require("claude-code.install.target").name()
    local version = require("claude-code.server.contract").version
    local path = target and require("claude-code.install.store").executable(version, target)
    return path and runs(path) and path or nil
  end,
  system = on_path,
}

--- The command that gets an executable of this plugin's version.
---@param source? claude-code.BinarySource where the present one is from; nil if there is none
---@return string
function M.remedy(source)
  local releases = require("claude-code.install.release")
  if source == "system" or (source == "build" and releases.packaged()) then
    return "upgrade claude-code-nvim with the package manager that installed it"
  elseif source == "path" then
    return "replace that file, or take binary.path out of setup()"
  elseif source == "build" then
    return "run " .. releases.build_command()
  end
  local release, message = releases.find()
  return release and "run :ClaudeCodeInstall" or message --[[@as string]]
end

---@param path string as the user wrote it
---@return claude-code.Binary?
---@return string? message
local function configured(path)
  local expanded = vim.fn.fnamemodify(vim.fs.normalize(path), ":p")
  if runs(expanded) then
    return { path = expanded, source = "path" }
  end
  local text = "binary.path is %s, which is not an executable file; %s, then :ClaudeCodeStart"
  return nil, text:format(expanded, M.remedy("path"))
end

--- The executable downloaded for another version, when this version's cannot be had. Whether the
--- two fit together is found out when it starts.
---@param order claude-code.BinarySource[]
---@return claude-code.Binary?
local function outdated(order)
  local path = M.managed_path()
  local wanted = vim.tbl_contains(order, "managed") and runs(path)
  if wanted and require("claude-code.install").permission() == "no" then
    return { path = path, source = "managed" }
  end
end

---@param order claude-code.BinarySource[]
---@return string message what was looked for, and the command that helps
local function not_found(order)
  local places = {
    build = vim.fs.joinpath(M.root(), "dist", NAME),
    managed = M.managed_path(),
    system = "$PATH",
  }
  local looked = vim.tbl_map(function(source)
    return places[source]
  end, order)
  local remedy = order[1] == "system" and "install claude-code-nvim with your package manager"
    or M.remedy(#order == 1 and order[1] or nil)
  local text = "the executable %s was not found (looked in %s); %s, then :ClaudeCodeStart"
  return text:format(NAME, table.concat(looked, ", "), remedy)
end

--- The executable to run under the options in effect.
---@return claude-code.Binary?
---@return string? message what was looked for, and the command that helps
function M.find()
  local options = require("claude-code.config").get().binary
  if options.path then
    return configured(options.path)
  end
  local order = options.source == "auto" and { "build", "managed", "system" } or { options.source }
  for _, source in ipairs(order) do
    local path = finders[source]()
    if path then
      return { path = path, source = source }
    end
  end
  return outdated(order) or nil, not_found(order)
end

--- Asks an executable for its version. Answers in the main loop; nil when it does not run.
---@param path string
---@param callback fun(version: string?, message: string?)
---@param timeout_ms? integer 3000 if left out
function M.version(path, callback, timeout_ms)
  local process = require("claude-code.server.process")
  local env = process.whole(process.environment())
  local options =
    { text = true, timeout = timeout_ms or 3000, env = env, clear_env = true, cwd = "/" }
  if vim.fn.has("win32") == 1 then
    options.cwd = vim.env.SystemRoot
  end
  local ok, failure = pcall(vim.system, { path, "--version" }, options, function(result)
    local version = result.code == 0 and result.stdout:match("%d+%.%d+%.%d+%S*") or nil
    local message = not version
      and ("`%s --version` ended with code %d %s"):format(path, result.code, result.stderr or "")
    vim.schedule(function()
      callback(version, message or nil)
    end)
  end)
  if not ok then
    callback(nil, tostring(failure))
  end
end

return M
