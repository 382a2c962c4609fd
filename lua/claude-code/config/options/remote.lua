--- Checks the options of a remote, from a table or the result of a function.
local t = require("claude-code.config.options.schema")

local M = {}

---@class claude-code.Remote a place where Claude runs: a container, a sandbox, another machine
---@field command string[] starts Claude there: {args} are its arguments, {env} its variables
---@field relay string[] the command that starts the relay there, on its stdin and stdout
---@field path_mappings? table<string, string> folders there, and where they are here

local words = t.list_of(t.string)

--- In these programs the option -t asks for a terminal, which changes line ends, and with them the relay's messages.
local WITH_TERMINALS = { docker = true, podman = true, nerdctl = true, kubectl = true, ssh = true }

---@type table<string, fun(value: any): string?> what each field must be, if it is not
local FIELDS = {
  command = function(value)
    local text = words.accepts(value) and table.concat(value, " ") or ""
    local is_complete = text:find("{env}", 1, true) and text:find("{args}", 1, true)
    return not is_complete and 'expected a list of words with "{env}" and "{args}" in it' or nil
  end,
  relay = function(value)
    if not words.accepts(value) or not value[1] then
      return "expected a list of words"
    end
    local before = (table.concat(value, " ") .. " "):match("^(.-) relay ") or ""
    local is_terminal = WITH_TERMINALS[vim.fs.basename(value[1])]
      and (before .. " "):find(" %-[it]*t[it]* ")
    return is_terminal and "it must have no terminal, so no option -t" or nil
  end,
  path_mappings = function(value)
    for remote, here in pairs(type(value) == "table" and value or { 0 }) do
      local is_path = type(remote) == "string" and (remote:find("^/") or remote:find("^%a:[/\\]"))
      if not is_path or type(here) ~= "string" then
        return 'expected a table of absolute paths, such as { ["/workspaces/x"] = "~/src/x" }'
      end
    end
  end,
}

---@param remote any
---@return string? problem for the user, after the remote's name: ".relay: …"; nil if it can be used
function M.problem(remote)
  if type(remote) ~= "table" then
    return ": expected a table with command and relay"
  end
  for key in pairs(vim.tbl_extend("keep", remote, { command = 0, relay = 0 })) do
    local problem = not FIELDS[key] and "unknown option"
      or (remote[key] ~= nil or key ~= "path_mappings") and FIELDS[key](remote[key])
    if problem then
      return (".%s: %s"):format(key, problem)
    end
  end
end

return M
