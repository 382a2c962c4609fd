--- :checkhealth claude-code. Each finding that is not fine names the command that mends it.
local M = {}

local health = vim.health

local function check_neovim()
  local version = tostring(vim.version())
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok(("Neovim %s"):format(version))
  else
    health.error(("Neovim %s is too old"):format(version), "install Neovim 0.10 or newer")
  end
end

--- Asks a program for its version, waiting for the answer.
---@param path string
---@return string? version
---@return string? message
local function version_of(path)
  local done, version, message
  require("claude-code.binary").version(path, function(found, failure)
    done, version, message = true, found, failure
  end)
  vim.wait(5000, function()
    return done
  end, 10)
  return version, message or (not done and "no answer within 5 s" or nil)
end

local function check_executable()
  local locate = require("claude-code.binary")
  local binary, missing = locate.find()
  if not binary then
    health.error(missing --[[@as string]], locate.remedy())
    return
  end
  local ours = require("claude-code.contract").version
  local version, failure = version_of(binary.path)
  local place = ("%s (%s)"):format(binary.path, binary.source)
  if not version then
    health.error(("%s does not run: %s"):format(place, failure), locate.remedy(binary.source))
  elseif version ~= ours then
    local text = "%s has version %s, the plugin %s"
    health.warn(text:format(place, version, ours), locate.remedy(binary.source))
  else
    health.ok(("executable %s, version %s"):format(place, version))
  end
end

local function check_cli()
  local path = vim.fn.exepath("claude")
  if path == "" then
    local advice = "run `npm install -g @anthropic-ai/claude-code`"
    health.warn("the Claude CLI `claude` is not on $PATH", advice)
    return
  end
  local version, failure = version_of(path)
  if version then
    health.ok(("Claude CLI %s, version %s"):format(path, version))
  else
    health.warn(("the Claude CLI does not run: %s"):format(failure), "run `claude doctor`")
  end
end

---@param status claude-code.Status
local function check_server(status)
  if status.state == "ready" then
    health.ok(("server ready on port %d, %d client(s)"):format(status.port, #status.clients))
  elseif status.state == "failed" then
    health.error(status.last_error or "the server failed", "see :ClaudeCodeLog")
  else
    local why = status.why and (": " .. status.why) or ""
    health.warn(("the server is %s%s"):format(status.state, why), "run :ClaudeCodeStart")
  end
end

---@param path string
---@param expected string octal, "600"
---@return string? message what is wrong with its permissions
local function permission_problem(path, expected)
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return ("%s is missing"):format(path)
  end
  local mode = ("%o"):format(stat.mode % 512)
  if mode ~= expected and vim.fn.has("win32") == 0 then
    return ("%s has mode %s instead of %s"):format(path, mode, expected)
  end
end

---@param status claude-code.Status
local function check_lock(status)
  if status.state ~= "ready" or not status.lock_file then
    health.info("no lock file, since the server is not running")
    return
  end
  local path = status.lock_file
  local problem = permission_problem(path, "600") or permission_problem(vim.fs.dirname(path), "700")
  if problem then
    health.error("lock file: " .. problem, "run :ClaudeCodeStop and :ClaudeCodeStart")
  else
    health.ok(("lock file %s, readable by you alone"):format(path))
  end
end

---@param status claude-code.Status
local function check_workspace(status)
  if #status.folders == 0 then
    local text = "no workspace folder is published: this is the home folder or one above it"
    health.warn(text, "use :cd to go to a project")
  else
    health.ok("workspace " .. table.concat(status.folders, ", "))
  end
  for _, rival in ipairs(status.rivals) do
    local text = "%s (process %d) publishes %s too: a Claude CLI outside of both finds neither"
    health.warn(
      text:format(rival.name, rival.pid, rival.folder),
      "start `claude` in a terminal of the Neovim you mean, or run :ClaudeCodeStop in the other"
    )
  end
end

function M.check()
  health.start("claude-code.nvim: programs")
  check_neovim()
  check_executable()
  check_cli()
  health.start("claude-code.nvim: server")
  local status = require("claude-code.status").get()
  check_server(status)
  check_lock(status)
  check_workspace(status)
end

return M
