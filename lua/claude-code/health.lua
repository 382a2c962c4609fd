--- :checkhealth claude-code. What only Neovim can see is looked at here; the rest is what
--- `claude-code-nvim doctor` finds, so that both report the same. Each problem comes with the command
--- that fixes it.
local M = {}

local health = vim.health
local TIMEOUT_MS = 20000

--- Calls `ask` and waits for its answer, while Neovim answers the questions of the executable.
---@param ask fun(callback: fun(...))
---@return any ... what the callback gets; nothing if it takes too long
local function wait_for(ask)
  local answer
  ask(function(...)
    answer = { ... }
  end)
  vim.wait(TIMEOUT_MS, function()
    return answer ~= nil
  end, 10)
  return unpack(answer or {})
end

---@return string? path nil if there is no executable that fits
local function check_executable()
  local locate = require("claude-code.install.locate")
  local binary, missing = locate.find()
  if not binary then
    health.error(missing --[[@as string]], locate.remedy())
    return nil
  end
  local plugin = require("claude-code.install.contract").version
  local version, failure = wait_for(function(callback)
    require("claude-code.install.executable").version(binary.path, callback)
  end)
  local place = ("%s (%s)"):format(binary.path, binary.source)
  if not version then
    health.error(("%s does not run: %s"):format(place, failure), locate.remedy(binary.source))
    return nil
  elseif version ~= plugin then
    local text = "%s has version %s, the plugin %s"
    health.error(text:format(place, version, plugin), locate.remedy(binary.source))
    return nil
  end
  health.ok(("executable %s, version %s"):format(place, version))
  return binary.path
end

---@param path string the executable
---@return { level: "ok"|"note"|"warning"|"error", what: string, remedy?: string }[]? findings
---@return string? message
local function consult(path)
  local command = { path, "doctor", "--json" }
  local cli = require("claude-code.claude.cli").command()
  if cli then
    vim.list_extend(command, { "--cli", cli[1] })
  end
  local executable = require("claude-code.install.executable")
  -- That of a CLI that is started outside of this Neovim, which is the harder case; and the way to this Neovim.
  local env = executable.environment()
  env.CLAUDE_CODE_SSE_PORT = nil
  env.NVIM = require("claude-code.server.endpoint").address()
  -- The program ends after we have stopped waiting for it.
  local options = { env = env, cwd = vim.fn.getcwd(), timeout = TIMEOUT_MS + 1000 }
  local result = wait_for(function(callback)
    executable.run(command, options, callback)
  end)
  if not result then
    return nil, ("it took more than %d s"):format(TIMEOUT_MS / 1000)
  end
  local ok, answer = pcall(vim.json.decode, result.stdout)
  if not ok or type(answer) ~= "table" then
    return nil, ("exit code %d, %s"):format(result.code, vim.trim(result.stderr))
  end
  return answer.findings
end

local REPORTERS = { ok = "ok", note = "info", warning = "warn", error = "error" }

local function check_surroundings(path)
  local findings, message = consult(path)
  if not findings then
    local text = "`%s doctor` failed: %s"
    health.error(text:format(path, message), "run it in a terminal and report its output")
    return
  end
  for _, finding in ipairs(findings) do
    health[REPORTERS[finding.level]](finding.what, finding.remedy)
  end
end

local function check_other_plugins()
  local problem = require("claude-code.server.other_plugins").problem()
  if problem then
    health.error(problem)
  end
end

local function check_options()
  for _, problem in ipairs(require("claude-code.config").problems) do
    health.error(problem, "correct it in your setup(), see :help claude-code-options")
  end
end

local function check_terminal()
  local provider = require("claude-code.config").get().terminal.provider
  if provider == "snacks" and not pcall(require, "snacks") then
    health.error(
      'terminal.provider is "snacks", but folke/snacks.nvim is not installed',
      'install it, or set terminal.provider to "native"'
    )
  elseif provider == "tmux" and not require("claude-code.terminal.providers.tmux").is_around() then
    health.error(
      'terminal.provider is "tmux", but Neovim does not run in tmux',
      'start Neovim in tmux, or set terminal.provider to "native"'
    )
  else
    health.ok("terminal: " .. (type(provider) == "table" and "your own" or provider))
  end
end

local function check_keymaps()
  if not require("claude-code.config").get().keymaps then
    return
  end
  local keymaps = require("claude-code.keymaps")
  for _, mapping in ipairs(keymaps.conflicts()) do
    local what, remedy = "keymaps: %s is mapped to something else", "map %s to another key"
    health.warn(what:format(mapping.key), remedy:format(keymaps.target(mapping)))
  end
end

function M.check()
  health.start("claude-code.nvim")
  health.ok(("Neovim %s"):format(vim.version()))
  local path = check_executable()
  check_other_plugins()
  check_options()
  check_terminal()
  check_keymaps()
  if path then
    health.start("claude-code.nvim: Claude Code and this Neovim")
    check_surroundings(path)
  end
end

return M
