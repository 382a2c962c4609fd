--- Runs the executable, or a program of the system, for one answer. As the server the executable is run by
--- server/process.lua.
local M = {
  --- The name of its file, in an archive and on the disk.
  NAME = vim.fn.has("win32") == 1 and "claude-code-nvim.exe" or "claude-code-nvim",
}

local TIMEOUT_MS = 3000

--- Variables that make a compiled Bun program run or expose itself to code of others.
local function is_hazard(name)
  name = name:upper()
  return name == "BUN_OPTIONS" or name == "BUN_BE_BUN" or vim.startswith(name, "BUN_INSPECT")
end

--- Our environment, fit for the executable.
---@return table<string, string>
function M.environment()
  local env = {}
  for name, value in pairs(vim.fn.environ()) do
    if not is_hazard(name) then
      env[name] = value
    end
  end
  return env
end

---@param env table<string, string>
---@return string[] NAME=value
function M.as_list(env)
  local list = {}
  for name, value in pairs(env) do
    table.insert(list, name .. "=" .. value)
  end
  return list
end

--- Runs a program to its end.
---@param words string[] its path and the arguments
---@param options { timeout?: integer, env?: table<string, string>, cwd?: string } `timeout` in ms; `env`: all of
--- its environment, ours if left out
---@param callback fun(result: vim.SystemCompleted) in the main loop; the code is -1 if it cannot be started, and
---never 0 if it was killed
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
    -- TODO(0.10): it passes the table on as it is, so that it has to be a list there.
    env = vim.fn.has("nvim-0.11") == 0 and M.as_list(env) or env,
    clear_env = true,
    cwd = options.cwd or require("claude-code.programs").NEUTRAL_FOLDER,
  }, done)
  if ok then
    return started
  end
  local reason = tostring(started):gsub("^.-:%d+: ", "")
  done({ code = -1, signal = 0, stdout = "", stderr = reason })
end

---@param path string
---@param callback fun(version: string?, message: string?) in the main loop; nil if it does not run
---@param timeout_ms? integer 3000 if left out
function M.version(path, callback, timeout_ms)
  M.run({ path, "--version" }, { timeout = timeout_ms or TIMEOUT_MS }, function(result)
    -- Not the version of another program: `strip` leaves only Bun.
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
