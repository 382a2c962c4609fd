--- The remotes in which Claude runs: their links, which the executable holds, and what it reports of them.
local M = {}

--- For the relay's first line. Claude starts after that without a connection, and finds it for 30 s more.
local WAIT_MS = 3000

--- What the executable reports (LinkState in src/remote/link.ts).
---@class claude-code.RemoteReport
---@field name? string
---@field state "starting"|"up"|"down"
---@field port? integer there
---@field uses_next_token? boolean another program has the port of before
---@field no_proxy? string that exempts loopback, where a proxy is set
---@field cli_arguments? claude-code.CliArguments that name the executable there
---@field problem? string clients can connect, but something is wrong
---@field cause? string why it is down

---@class claude-code.RemoteLink
---@field place claude-code.RemotePlace
---@field report claude-code.RemoteReport
---@field token string kept over restarts, as the port: the Claude CLI never looks for a new one
---@field next_token string
---@field port? integer
---@field waiting (fun())[] for its first report

---@type table<string, claude-code.RemoteLink> by the remote's name
local links = {}

local function new_token()
  local token = require("claude-code.lib.uuid")()
  require("claude-code.messages.log").conceal(token)
  return token
end

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
  require("claude-code.server.requests").request("remote/start", request, function(_, problem)
    if problem then
      link.report = { state = "down", cause = problem }
      answer(link)
    end
  end)
end

--- The executable, which holds the links, is gone.
local function on_detach()
  for _, link in pairs(links) do
    link.report = { state = "starting" }
  end
end

--- Starts the relay of a remote unless it runs, and calls back once it is up, is known to fail, or does not
--- answer within three seconds.
---@param place claude-code.RemotePlace
---@param callback fun()
function M.ensure(place, callback)
  local link = links[place.name]
  if link and link.report.state == "up" and vim.deep_equal(link.place, place) then
    return callback()
  end
  link = link or { token = new_token(), next_token = new_token(), waiting = {} }
  link.place, link.report = place, { state = "starting" }
  links[place.name] = link
  require("claude-code.server.channel").on_detach(on_detach)
  table.insert(link.waiting, callback)
  start(link)
  require("claude-code.lib.timer").once(WAIT_MS, function()
    answer(link)
  end)
end

--- What is known of a remote.
---@param name string
---@return claude-code.RemoteReport
function M.report(name)
  return links[name] and links[name].report or { state = "down" }
end

---@return boolean does a session run there, or is about to?
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
    link.token, link.next_token = link.next_token, new_token()
  end
  if now.problem and now.problem ~= before.problem then
    messages.warn(("The remote %s: %s"):format(name, now.problem))
  elseif now.state == "down" and not is_wanted(name) then
    require("claude-code.server.requests").ask("remote/stop", { name = name }, function() end)
  elseif now.state == "down" and before.state == "up" then
    -- A CLI gives up after 17 s, and its `/ide` then takes the port of before for one that it is connected to
    -- (measured with 2.1.330).
    local text = "The connection to the remote %s ended, and its diffs with it, rejected: %s; it is tried again, and "
      .. ":Claude! --continue starts a Claude again that does not come back"
    messages.warn(text:format(name, now.cause))
  end
  if params.state ~= "starting" then
    answer(link)
  end
end

--- Another executable has attached: it starts the relays that the one before had.
function M.on_attach()
  for name, link in pairs(links) do
    if is_wanted(name) then
      start(link)
    end
  end
end

---@return claude-code.RemoteReport[] of all remotes, by name
function M.list()
  local names = vim.tbl_keys(links)
  table.sort(names)
  return vim.tbl_map(function(name)
    return vim.tbl_extend("force", links[name].report, { name = name })
  end, names)
end

return M
