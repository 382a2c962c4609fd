--- The remotes in which Claude runs: the state of the links to them, which the executable holds, and the command that
--- starts Claude there.
local endpoint = require("claude-code.server.endpoint")

local M = {}

--- Claude starts after this time without the relay's first line, and looks for a connection for another 30 s.
local WAIT_MS = 3000

---@class claude-code.RemotePlace a remote for one folder
---@field name string
---@field command string[]
---@field relay string[]
---@field folder string on this machine
---@field path_mappings? table<string, string>

--- A report of the executable (LinkState in src/remote/link.ts).
---@class claude-code.RemoteReport
---@field name? string
---@field state "starting"|"up"|"down"
---@field port? integer there
---@field uses_next_token? boolean another program took the previous port
---@field no_proxy? string variable that exempts loopback from a proxy
---@field plugin? string folder of the plugin for Claude Code there
---@field plugin_without_mod? string another one, for the option `terminal.mod`
---@field problem? string of a link to which clients can connect
---@field cause? string why the link is down

---@class claude-code.RemoteLink
---@field place claude-code.RemotePlace
---@field report claude-code.RemoteReport
---@field token string survives restarts, as does the port: the Claude CLI never looks for new ones
---@field next_token string
---@field port? integer
---@field waiting (fun())[] for the first report

---@type table<string, claude-code.RemoteLink> by the remote's name
local links = {}

local function answer(link)
  local callbacks = link.waiting
  link.waiting = {}
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

local function start(link)
  local place = link.place
  local request = {
    name = place.name,
    relay = place.relay,
    folder = require("claude-code.lib.workspace").root(place.folder),
    mappings = place.path_mappings,
    token = link.token,
    nextToken = link.next_token,
    port = link.port,
  }
  require("claude-code.server.channel").request("remote/start", request, function(_, problem)
    if problem then
      link.report = { state = "down", cause = problem }
      answer(link)
    end
  end)
end

local function on_detach()
  for _, link in pairs(links) do
    link.report = { state = "starting" }
  end
end

--- Starts the relay of a remote unless it runs. Calls back after its first report, or after three seconds.
function M.ensure(place, callback)
  local link = links[place.name]
  if link and link.report.state == "up" and vim.deep_equal(link.place, place) then
    return callback()
  end
  link = link or { token = endpoint.new_token(), next_token = endpoint.new_token(), waiting = {} }
  link.place, link.report = place, { state = "starting" }
  links[place.name] = link
  require("claude-code.server.channel").on_detach(on_detach)
  table.insert(link.waiting, callback)
  start(link)
  require("claude-code.lib.timer").once(WAIT_MS, function()
    answer(link)
  end)
end

function M.report(name)
  return links[name] and links[name].report or { state = "down" }
end

--- Does a session run there, or is it about to start?
local function is_wanted(name)
  return #links[name].waiting > 0
    or vim.iter(require("claude-code.sessions").list()):any(function(row)
      return row.remote == name
    end)
end

--- The executable reports the state of a link.
---@param params { name: string } with the fields of claude-code.RemoteReport
function M.on_state(params)
  local link = links[params.name]
  if not link then
    return
  end
  local name, before, now = params.name, link.report, params --[[@as claude-code.RemoteReport]]
  local messages = require("claude-code.messages.notify")
  link.report, link.port = now, now.port or link.port
  if now.uses_next_token then
    link.token, link.next_token = link.next_token, endpoint.new_token()
  end
  if now.problem and now.problem ~= before.problem then
    messages.warn(("The remote %s: %s"):format(name, now.problem))
  elseif now.state == "down" and not is_wanted(name) then
    require("claude-code.server.channel").ask("remote/stop", { name = name }, function() end)
  elseif now.state == "down" and before.state == "up" then
    -- A CLI (2.1.330) gives up after 17 s, but its `/ide` still shows the old port as connected.
    local text = "The connection to the remote %s ended, which rejected its diffs: %s; Neovim tries to connect again. "
      .. "If Claude does not reconnect, restart it with :Claude! --continue"
    messages.warn(text:format(name, now.cause))
  end
  if params.state ~= "starting" then
    answer(link)
  end
end

--- A new executable starts the relays of the previous one.
function M.on_attach()
  for name, link in pairs(links) do
    if is_wanted(name) then
      start(link)
    end
  end
end

---@return claude-code.RemoteReport[] of all remotes, by name
function M.list()
  local reports = {}
  for name, link in vim.spairs(links) do
    table.insert(reports, vim.tbl_extend("force", link.report, { name = name }))
  end
  return reports
end

--- The value of an option that may be a function.
---@return any value, string? message
local function value_for(option, key, folder)
  if type(option) ~= "function" then
    return option
  end
  local ok, value = pcall(option, folder)
  if not ok then
    return nil, ("the function %s failed: %s"):format(key, value)
  end
  return value
end

---@return claude-code.Remote? remote of the option `remotes`
---@return string? message
local function remote_named(name, folder)
  local remote = require("claude-code.config").get().remotes[name]
  if remote == nil then
    return nil, ("there is no %s in the option remotes"):format(vim.inspect(name))
  end
  local key = "remotes." .. name
  local message
  remote, message = value_for(remote, key, folder)
  local problem = not message and require("claude-code.config.options.remote").problem(remote)
  if message or problem then
    return nil, message or key .. problem
  end
  return remote
end

---@param folder string of the tab page
---@return claude-code.RemotePlace? place nil if Claude runs on this machine
---@return string? message why Claude cannot start
function M.place(folder)
  local name, message =
    value_for(require("claude-code.config").get().terminal.remote, "terminal.remote", folder)
  if message or not name then
    return nil, message
  end
  local remote
  remote, message = remote_named(name, folder)
  if not remote then
    return nil, message
  end
  local command = vim.list_slice(remote.command)
  command[1], message = require("claude-code.claude.cli").find(command[1])
  if not command[1] then
    return nil, ("remotes.%s.command: %s"):format(name, message)
  end
  local place = { name = name, folder = folder, command = command }
  return vim.tbl_extend("keep", place, remote)
end

---@return string for sh
local function quoted(word)
  return "'" .. word:gsub("'", [['\'']]) .. "'"
end

--- A sandbox may inherit our environment, so this empties the variables that lead to this Neovim on its own machine.
---@param name string the remote's
---@return string[] words `NAME=value` for Claude
local function variables(name, n)
  local report = M.report(name)
  local options = require("claude-code.config").get().terminal
  local env = vim.tbl_extend("force", { TERM = "xterm-256color" }, options.env, {
    NVIM = "",
    CLAUDE_CODE_SSE_PORT = report.state == "up" and tostring(report.port) or "",
    CLAUDE_CODE_NVIM_SESSION = n and tostring(n) or "",
    ENABLE_IDE_INTEGRATION = "true",
    NO_PROXY = report.no_proxy,
    no_proxy = report.no_proxy,
  })
  local words = {}
  for key, value in vim.spairs(env) do
    words[#words + 1] = key .. "=" .. value
  end
  return words
end

--- Fills the placeholders of the remote's command. A placeholder that is a whole word becomes several words. Within a
--- longer word, which a shell reads there, they are quoted.
function M.fill(place, arguments, n)
  local values = { ["{args}"] = arguments, ["{env}"] = variables(place.name, n) }
  local command = {}
  for _, word in ipairs(place.command) do
    if values[word] then
      vim.list_extend(command, values[word])
    else
      command[#command + 1] = word:gsub("{%l+}", function(placeholder)
        local words = values[placeholder]
        return words and table.concat(vim.tbl_map(quoted, words), " ")
      end)
    end
  end
  return command
end

return M
