--- Runs the executable, or another program, for one answer. server/process.lua runs the executable as the server.
local M = {
  NAME = "claude-code-nvim" .. require("claude-code.lib.platform").EXE,
}

local programs = require("claude-code.programs")

local TIMEOUT_MS = 3000

--- Neovim's environment without variables that make a compiled Bun program run other code, or open a debugger.
---@return table<string, string>
function M.environment()
  local env = {}
  for name, value in pairs(vim.fn.environ()) do
    local upper = name:upper()
    local is_option = upper == "BUN_OPTIONS" or upper == "BUN_BE_BUN"
    if not is_option and not vim.startswith(upper, "BUN_INSPECT") then
      env[name] = value
    end
  end
  return env
end

---@return string[] NAME=value
function M.as_list(env)
  local list = {}
  for name, value in pairs(env) do
    table.insert(list, name .. "=" .. value)
  end
  return list
end

---@param words string[] the program's path, and its arguments
---@param options { timeout?: integer, env?: table<string, string>, cwd?: string } `timeout` in ms; `env` replaces ours
---@param callback fun(result: vim.SystemCompleted) in the main loop; `code` is -1 if the program cannot start, and
---128 + N after signal N
---@return vim.SystemObj? program
function M.run(words, options, callback)
  local env = options.env or M.environment()
  local done = vim.schedule_wrap(function(result)
    result.code = result.signal == 0 and result.code or 128 + result.signal
    callback(result)
  end)
  local ok, started = pcall(vim.system, words, {
    text = true,
    timeout = options.timeout,
    -- TODO(0.10): vim.system() needs a list.
    env = vim.fn.has("nvim-0.11") == 0 and M.as_list(env) or env,
    clear_env = true,
    cwd = options.cwd or programs.NEUTRAL_FOLDER,
  }, done)
  if ok then
    return started
  end
  local reason = tostring(started):gsub("^.-:%d+: ", "")
  done({ code = -1, signal = 0, stdout = "", stderr = reason })
end

---@param callback fun(version: string?, message: string?) in the main loop
---@param timeout_ms? integer 3000 by default
function M.version(path, callback, timeout_ms)
  M.run({ path, "--version" }, { timeout = timeout_ms or TIMEOUT_MS }, function(result)
    -- `strip` leaves only Bun, which prints its own version without our name.
    local version = result.code == 0 and result.stdout:match("^claude%-code%.nvim (%S+)") or nil
    if version then
      return callback(version)
    elseif result.code == -1 then
      return callback(nil, result.stderr)
    end
    local text = "`%s --version` ended with code %d, and is not ours: %s"
    callback(nil, text:format(path, result.code, vim.trim(result.stderr .. result.stdout)))
  end)
end

return M
