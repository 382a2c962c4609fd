--- What the options of a remote must be, whether they are given as a table or by a function.
local M = {}

---@class claude-code.Remote a place where Claude runs: a container, a sandbox, another machine
---@field command string[] starts Claude there: {args} are its arguments, {env} its variables
---@field relay string[]|string the command that starts the relay there; or "unix:PATH" where one connects
---@field path_mappings? table<string, string> folders there, and where they are here

---@param value any
local function are_words(value)
  return type(value) == "table"
    and vim.islist(value)
    and #value > 0
    and vim.iter(value):all(function(word)
      return type(word) == "string"
    end)
end

---@param command string[]
---@param placeholder string
local function has(command, placeholder)
  return vim.iter(command):any(function(word)
    return word:find(placeholder, 1, true) ~= nil
  end)
end

--- Whose option -t asks for a terminal.
local WITH_TERMINALS = { docker = true, podman = true, nerdctl = true, kubectl = true, ssh = true }

--- A terminal changes line ends, and the relay's messages with them.
---@param command string[]
local function has_terminal(command)
  for _, word in ipairs(WITH_TERMINALS[vim.fs.basename(command[1])] and command or {}) do
    if word == "relay" then
      return false
    elseif word == "--tty" or word:find("^%-[it]*t[it]*$") then
      return true
    end
  end
end

---@param mappings any
---@return string? problem
local function problem_of_mappings(mappings)
  if type(mappings) ~= "table" or next(mappings) == nil then
    return '.path_mappings: expected a table such as { ["/workspaces/x"] = "~/src/x" }'
  end
  for remote, here in pairs(mappings) do
    if type(remote) ~= "string" or type(here) ~= "string" then
      return '.path_mappings: expected a table such as { ["/workspaces/x"] = "~/src/x" }'
    elseif not remote:find("^/") and not remote:find("^%a:[/\\]") then
      return (".path_mappings: %s is not an absolute path"):format(remote)
    end
  end
end

---@param remote any
---@return string? problem for the user, behind the remote's name: ".relay: …"; nil if it can be used
function M.problem(remote)
  if type(remote) ~= "table" then
    return ": expected a table with command and relay"
  end
  for key in pairs(remote) do
    if not vim.list_contains({ "command", "relay", "path_mappings" }, key) then
      return (".%s: unknown option"):format(key)
    end
  end
  if not are_words(remote.command) then
    return ".command: expected a list of words"
  elseif not has(remote.command, "{env}") or not has(remote.command, "{args}") then
    return '.command: expected the words "{env}" and "{args}" in it, as in '
      .. '{ "docker", "exec", "-it", "dev", "env", "{env}", "claude", "{args}" }'
  elseif type(remote.relay) == "string" then
    if not remote.relay:find("^unix:[/~]") then
      return ".relay: expected a list of words, or unix:PATH with an absolute path"
    end
  elseif not are_words(remote.relay) then
    return ".relay: expected a list of words, or unix:PATH with an absolute path"
  elseif has_terminal(remote.relay) then
    return ".relay: it must have no terminal, so no option -t"
  end
  return remote.path_mappings ~= nil and problem_of_mappings(remote.path_mappings) or nil
end

return M
