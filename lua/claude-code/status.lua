--- The state of plugin and executable, as data and as text for :Claude status.
local M = {}

---@class claude-code.Status
---@field state claude-code.ServerState
---@field why? string why it is stopped, unless it was never to start
---@field plugin_version string
---@field binary? claude-code.Binary
---@field binary_version? string reported when it attached
---@field process_id? integer
---@field ready_for? integer seconds
---@field port? integer
---@field lock_file? string
---@field clients claude-code.Client[]
---@field sessions claude-code.SessionInfo[] of CLIs whose hooks report here
---@field folders string[] workspace folders
---@field rivals claude-code.Rival[] other editors with an overlapping workspace
---@field hooks_off string[] why a CLI in one of them runs no hooks
---@field log_file string
---@field last_error? string
---@field stderr string[] the last lines of the running executable

---@return string? reason of a server that is stopped
local function why_stopped()
  local server = require("claude-code.server")
  if server.state == "stopped" then
    return server.stopped_by_user and "you stopped it"
      or require("claude-code.server.autostart").reason
  end
end

---@return claude-code.Status
function M.get()
  local server = require("claude-code.server")
  local folders = require("claude-code.lib.workspace").folders()
  local session = package.loaded["claude-code.editor.turn_check"]
  return {
    state = server.state,
    why = why_stopped(),
    plugin_version = require("claude-code.install.contract").version,
    binary = server.binary or (require("claude-code.install.locate").find()),
    binary_version = server.version,
    process_id = server.process and server.process.pid,
    ready_for = server.ready_since and os.time() - server.ready_since,
    port = server.state == "ready" and server.port or nil,
    lock_file = server.lock_file,
    clients = vim.deepcopy(server.clients),
    sessions = session and session.list() or {},
    folders = folders,
    rivals = vim.deepcopy(server.rivals),
    hooks_off = vim.iter(folders):map(require("claude-code.claude.hooks").off):totable(),
    log_file = require("claude-code.messages.log").path(),
    last_error = server.last_error,
    stderr = server.process and server.process:last_words() or {},
  }
end

--- File types without a language server, as a rule.
local PROSE = { "text", "markdown", "gitcommit", "gitrebase", "help", "conf", "qf", "" }

---@return integer count of open files that a language server might know
---@return string[] names of the language servers that serve one of them
local function languages()
  local count, names = 0, {} ---@type integer, string[]
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local file = vim.bo[buf].buflisted and vim.bo[buf].buftype == ""
    if file and not vim.tbl_contains(PROSE, vim.bo[buf].filetype) then
      count = count + 1
    end
  end
  for _, client in ipairs(require("claude-code.lib.lsp").clients()) do
    local serves_file = vim.iter(vim.tbl_keys(client.attached_buffers or {})):any(function(buf)
      return vim.bo[buf].buftype == ""
    end)
    if serves_file then
      table.insert(names, client.name)
    end
  end
  return count, names
end

--- What `claude-code-nvim doctor` asks of each Neovim (EditorReport in src/doctor/editors.ts).
---@return table
function M.report()
  local status = M.get()
  local source_files, language_servers = languages()
  local options = require("claude-code.config").get()
  local terminal = options.terminal
  return {
    pid = vim.uv.os_getpid(),
    version = status.plugin_version,
    state = status.state,
    why = status.why,
    stopped_by_user = require("claude-code.server").stopped_by_user,
    last_error = status.last_error,
    port = status.port,
    lock_file = status.lock_file,
    folders = status.folders,
    clients = status.clients,
    remotes = package.loaded["claude-code.remote"] and require("claude-code.remote").list() or nil,
    config_dir = require("claude-code.claude.config_dir").configured(),
    permission_mode = terminal.permission_mode or nil,
    terminal_args = terminal.args,
    in_remote = terminal.remote and true or nil,
    diff_open = options.diff.open,
    language_servers = language_servers,
    source_files = source_files,
  }
end

---@param seconds integer
local function duration(seconds)
  if seconds < 60 then
    return seconds .. " s"
  elseif seconds < 3600 then
    return math.floor(seconds / 60) .. " min"
  end
  return ("%d h %d min"):format(math.floor(seconds / 3600), math.floor(seconds % 3600 / 60))
end

---@param status claude-code.Status
local function state(status)
  if status.state == "ready" then
    return ("ready for %s, process %d"):format(duration(status.ready_for), status.process_id)
  elseif status.why then
    return ("%s: %s (:Claude start starts it)"):format(status.state, status.why)
  end
  return status.state
end

---@param status claude-code.Status
local function executable(status)
  if not status.binary then
    return "not found"
  end
  local version = status.binary_version and (" version " .. status.binary_version) or ""
  return ("%s (%s)%s"):format(status.binary.path, status.binary.source, version)
end

---@param client claude-code.Client
local function client_name(client)
  local name = ("%s %s"):format(client.name or "unidentified", client.version or "")
  local place = client.remote and (" at %s, contained"):format(client.remote)
    or client.pid and (" (process %d)"):format(client.pid)
  return vim.trim(name) .. (place or "")
end

---@param remote claude-code.RemoteReport
local function remote_state(remote)
  local more = remote.problem or remote.cause or remote.port and "port " .. remote.port
  return ("%s: %s%s"):format(remote.name, remote.state, more and ", " .. more or "")
end

---@param session claude-code.SessionInfo
local function session_name(session)
  local owner = session.pid and (" (process %d)"):format(session.pid) or ""
  local files = require("claude-code.lib.counted").of(session.files, "edited file")
  return ("%s%s: %s"):format(session.id, owner, files)
end

--- How the state of a session is known: in its terminal Claude says what it does, in its file whether
--- it works or asks. Of an Esc hooks say nothing.
---@type table<claude-code.StateSource, string>
local SOURCES = { terminal = "terminal", registry = "registry", hook = "hooks" }

---@param row claude-code.SessionRow
---@return string what it asks and the user may answer here
local function request_of(row)
  local requests = package.loaded["claude-code.sessions.requests"]
  local request = requests and requests.of(row)
  return request and (", :Claude answer answers %s"):format(request.title) or ""
end

---@param row claude-code.SessionRow
local function session_state(row)
  local name = row.name or row.worktree or row.id or "Claude"
  local number = row.n and row.n .. " " or ""
  local source = row.source and ", by " .. SOURCES[row.source] or ""
  local known = row.state or "state unknown"
  return ("%s%s: %s%s%s"):format(number, name, known, source, request_of(row))
end

---@param rival claude-code.Rival
local function rival_name(rival)
  local text = "%s (process %d) also publishes %s: a Claude CLI outside of both connects to neither, "
    .. "unless CLAUDE_CODE_SSE_PORT names a port"
  return text:format(rival.name, rival.pid, rival.folder)
end

local NO_WORKSPACE =
  "none: the home folder and folders above it are not published; :cd to a project"

--- The report, one item a line; an item with several values goes on below itself.
---@return string[]
function M.lines()
  local status = M.get()
  local lines = { "claude-code.nvim " .. status.plugin_version, "" }
  local summary = package.loaded["claude-code.sessions.summary"]
  local function item(label, values)
    for i, value in ipairs(type(values) == "table" and values or { values }) do
      local text = tostring(value):gsub("\n", " ")
      table.insert(lines, ("%-12s %s"):format(i == 1 and label or "", text))
    end
  end
  item("state", state(status))
  item("executable", executable(status))
  item("address", status.port and ("ws://127.0.0.1:%d"):format(status.port) or "none")
  item("lock file", status.lock_file or "none")
  item("clients", #status.clients > 0 and vim.tbl_map(client_name, status.clients) or "none")
  item("sessions", vim.tbl_map(session_name, status.sessions))
  item("states", vim.tbl_map(session_state, summary and summary.attached() or {}))
  local remotes = package.loaded["claude-code.remote"]
  item("remotes", remotes and vim.tbl_map(remote_state, remotes.list()) or {})
  item("workspace", #status.folders > 0 and status.folders or NO_WORKSPACE)
  item("hooks off", status.hooks_off)
  item("log", status.log_file)
  item("last error", status.last_error or "none")
  item("stderr", status.stderr)
  item("conflict", vim.tbl_map(rival_name, status.rivals))
  return lines
end

return M
