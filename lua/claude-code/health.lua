--- The state of plugin, server and sessions: as data, and as findings for `:checkhealth claude-code`, `:Claude status`
--- and `claude-code-nvim doctor`. The first two run the doctor if they can.
local M = {}

local DOCTOR_MS = 20000
--- Includes the time for the executable's version.
local REPORT_MS = DOCTOR_MS + 5000

---@class claude-code.Finding as in src/doctor/finding.ts
---@field level "ok"|"note"|"warning"|"error"
---@field cause? string kind of problem, the same in all versions
---@field what string
---@field remedy? string a command or a key

---@class claude-code.Status
---@field state claude-code.ServerState
---@field why? string why it is stopped
---@field plugin_version string
---@field binary? claude-code.Binary
---@field binary_version? string as the executable reported it
---@field process_id? integer
---@field port? integer
---@field lock_file? string
---@field clients claude-code.Client[]
---@field folders string[] workspace folders
---@field log_file string
---@field last_error? string
---@field stderr string[] last lines of the running executable

---@return claude-code.Status
function M.get()
  local server = require("claude-code.server")
  local why = server.stopped_by_user and "you stopped it"
    or require("claude-code.server.autostart").reason
  return {
    state = server.state,
    why = server.state == "stopped" and why or nil,
    plugin_version = require("claude-code.install.contract").version,
    binary = server.binary or (require("claude-code.install").find()),
    binary_version = server.version,
    process_id = server.process and server.process.pid,
    port = server.state == "ready" and server.port or nil,
    lock_file = server.lock_file,
    clients = vim.deepcopy(server.clients),
    folders = require("claude-code.lib.workspace").folders(),
    log_file = require("claude-code.messages.log").path(),
    last_error = server.last_error,
    stderr = server.process and server.process:last_words() or {},
  }
end

local function ok(text, ...)
  return { level = "ok", what = text:format(...) }
end

local function note(text, ...)
  return { level = "note", what = text:format(...) }
end

---@param level "warning"|"error"
local function problem(level, cause, what, remedy)
  return { level = level, cause = cause, what = what, remedy = remedy }
end

local function executable(status)
  local installer = require("claude-code.install")
  local binary, _, _, what = installer.find()
  if not binary then
    local source = require("claude-code.config").get().binary.path and "path" or nil
    return problem("error", "executable-missing", what, installer.remedy(source))
  end
  local version = status.binary_version and ", version " .. status.binary_version or ""
  return ok("executable %s (%s)%s", binary.path, binary.source, version)
end

---@type table<claude-code.ServerState, string> remedies for a server that is not ready
local REMEDIES = {
  starting = "look again in a moment; if it is still starting, see :Claude log",
  downloading = "wait for the end of the download, then look again",
  failed = "run :Claude",
}

local function server(status)
  if status.state == "ready" then
    local text = "the server is ready: process %d, ws://127.0.0.1:%d, lock file %s"
    return ok(text, status.process_id, status.port, status.lock_file or "none")
  elseif status.state == "stopped" then
    -- Not an error: the user or an option stopped it.
    local what = require("claude-code.server").stopped_by_user and "you stopped the server"
      or "the server was not started" .. (status.why and ": " .. status.why or "")
    return problem("warning", "server-stopped", what .. ", so no CLI finds it", "run :Claude")
  end
  local state = status.state == "failed" and "has failed" or "is still " .. status.state
  local why = status.last_error and ": " .. status.last_error or ""
  local what = ("the server %s%s"):format(state, why)
  return problem("error", "server-not-running", what, REMEDIES[status.state])
end

local function connected(client)
  local place = client.remote and (" at %s, contained"):format(client.remote)
    or client.pid and (" (process %d)"):format(client.pid)
    or ""
  local name = vim.trim(("%s %s"):format(client.name or "unidentified", client.version or ""))
  return ok("client %s%s", name, place)
end

--- How a session receives prompts and commands.
local function way(row)
  local name = row.n and require("claude-code.sessions.label").of(row.n)
    or ("Claude in process %d"):format(row.pid)
  if row.mod then
    return ok("%s receives prompts by the mod", name)
  elseif not row.n and not row.buf then
    local why = "it runs outside of this Neovim, and no mod is in its CLI (:help claude-code-mod)"
    return note("%s receives no prompts: %s; :Claude mention works", name, why)
  end
  local why = row.no_mod
    or require("claude-code.server").state ~= "ready" and "the server is not ready"
    or not row.n and "its CLI has loaded no mod, which :Claude setup adds for later ones"
    or "its CLI has loaded no mod: it is too old or forbids mods, or :Claude log shows a refusal"
  return note("%s receives prompts by paste: %s", name, why)
end

local function terminal()
  local name, why, remedy = require("claude-code.terminal.running").check()
  if why then
    local what = ("terminal.provider is %q, but %s"):format(name, why)
    return problem("error", "provider-missing", what, remedy)
  end
  return ok("terminal: %s", name)
end

local function options(add)
  local config = require("claude-code.config")
  for _, what in ipairs(config.problems) do
    local remedy = "correct it in your setup(), see :help claude-code-options"
    add(problem("error", "option-invalid", what, remedy))
  end
  local keymaps = config.get().keymaps and require("claude-code.keymaps")
  for _, mapping in ipairs(keymaps and keymaps.conflicts() or {}) do
    local what = ("keymaps: %s is mapped to something else"):format(mapping.key)
    local remedy = ("map %s to another key"):format(keymaps.target(mapping))
    add(problem("warning", "key-taken", what, remedy))
  end
end

local function remote(report)
  local why = report.cause or report.problem
  if not why then
    local port = report.port and ", port " .. report.port or ""
    return ok("remote %s: %s%s", report.name, report.state, port)
  end
  local what = ("remote %s: %s, %s"):format(report.name, report.state, why)
  local remedy =
    "correct that, or run the command of remotes.%s.relay with `doctor` instead of `relay --stdio`"
  local level = report.state == "down" and "error" or "warning"
  return problem(level, "remote-" .. report.state, what, remedy:format(report.name))
end

---@param broken? claude-code.Finding about the executable, which explains the server's state
---@return claude-code.Finding[] of this Neovim, without those of the doctor
function M.findings(broken)
  local status = M.get()
  local found = { ok("claude-code.nvim %s, Neovim %s", status.plugin_version, vim.version()) }
  local function add(finding)
    table.insert(found, finding)
  end
  local program = broken or executable(status)
  add(program)
  if program.level == "ok" then
    add(server(status))
  end
  local missing = require("claude-code.server").plugin_problem
  if missing then
    local remedy = "correct that, and run :ClaudeCodeStop and :ClaudeCodeStart"
    add(problem("error", "plugin-missing", missing .. ": Claude runs without hooks", remedy))
  end
  for _, why in ipairs(require("claude-code.sessions.sources").hooks_off()) do
    local what = why .. ": no hook runs, so nothing records Claude's changes for the review"
    add(problem("warning", "hooks-disabled", what, "correct that file"))
  end
  local review = package.loaded["claude-code.editor.review"]
  local summary = review and review.summary()
  for _, sentence in ipairs(summary and summary.problems or {}) do
    local remedy = "correct that, and restart Claude for its hooks"
    add(problem("warning", "review-incomplete", sentence, remedy))
  end
  local folders = table.concat(status.folders, ", ")
  local nothing =
    "none, as the home folder and folders above it are not published; :cd to a project"
  add(note("workspace: %s", folders ~= "" and folders or nothing))
  vim.list_extend(found, vim.tbl_map(connected, status.clients))
  local sessions = package.loaded["claude-code.sessions"]
  for _, row in ipairs(sessions and sessions.list() or {}) do
    if row.n or row.connected then
      add(way(row))
    end
  end
  local remotes = package.loaded["claude-code.remote"]
  vim.list_extend(found, vim.tbl_map(remote, remotes and remotes.list() or {}))
  local other, remedy = require("claude-code.server.other_plugins").problem()
  if other then
    add(problem("error", "other-plugin", other, remedy --[[@as string]]))
  end
  options(add)
  add(terminal())
  local lsp = require("claude-code.lib.lsp")
  local names = lsp.names(lsp.clients())
  local none = "none, so Claude receives no diagnostics (:checkhealth vim.lsp shows more)"
  add(note("language servers: %s", names ~= "" and names or none))
  if status.last_error and status.state ~= "failed" then
    add(note("last error: %s", status.last_error))
  end
  add(note("log: %s", status.log_file))
  return found
end

--- `claude-code-nvim doctor` prints the same.
local LABELS = { ok = "ok    ", note = "note  ", warning = "WARN  ", error = "FAIL  " }

function M.lines(findings)
  local lines = {}
  for _, finding in ipairs(findings) do
    local what = finding.what:gsub("\n", " ")
    table.insert(lines, LABELS[finding.level] .. what)
    if finding.remedy then
      table.insert(lines, "      to fix it, " .. finding.remedy)
    end
  end
  return lines
end

---@return table answer to `claude-code-nvim doctor` (EditorReport in src/doctor/facts.ts)
function M.report()
  local server_of, options_of = require("claude-code.server"), require("claude-code.config").get()
  local terminal_of = options_of.terminal
  local cli ---@type { path?: string, why?: string }?
  if terminal_of.command ~= "claude" then
    local command, _, why = require("claude-code.claude.cli").command()
    cli = command and { path = command[1] } or { why = why }
  end
  return {
    pid = vim.uv.os_getpid(),
    version = require("claude-code.install.contract").version,
    state = server_of.state,
    lock_file = server_of.lock_file,
    folders = require("claude-code.lib.workspace").folders(),
    clients = vim.deepcopy(server_of.clients),
    findings = M.findings(),
    config_dir = require("claude-code.claude.cli").config_dir(),
    cli = cli,
    permission_mode = terminal_of.permission_mode or nil,
    in_remote = terminal_of.remote and true or nil,
    diff_open = options_of.diff.open,
  }
end

---@param done fun(findings?: claude-code.Finding[], message?: string)
local function consult(path, done)
  local program = require("claude-code.install.executable")
  -- As for a CLI outside of Neovim, which is the harder case, but with the address of this Neovim.
  local env = program.environment()
  env.CLAUDE_CODE_SSE_PORT = nil
  env.NVIM = require("claude-code.server.endpoint").address()
  local how = { env = env, cwd = vim.fn.getcwd(), timeout = DOCTOR_MS }
  program.run({ path, "doctor", "--json" }, how, function(result)
    local is_json, answer = pcall(vim.json.decode, result.stdout)
    if is_json and type(answer) == "table" then
      return done(answer.findings)
    end
    done(nil, ("exit code %d %s"):format(result.code, vim.trim(result.stderr)))
  end)
end

---@param done fun(findings: claude-code.Finding[]) may be called before this returns
local function gather(done)
  local installer = require("claude-code.install")
  local binary = installer.find()
  if not binary then
    return done(M.findings())
  end
  local function fail(what, remedy)
    local cause = "executable-broken"
    done(M.findings({ level = "error", cause = cause, what = what, remedy = remedy }))
  end
  require("claude-code.install.executable").version(binary.path, function(version, failure)
    local plugin = require("claude-code.install.contract").version
    local place = ("%s (%s)"):format(binary.path, binary.source)
    if not version then
      return fail(("%s does not run: %s"):format(place, failure), installer.remedy(binary.source))
    elseif version ~= plugin then
      local text = "%s has version %s, the plugin %s"
      return fail(text:format(place, version, plugin), installer.remedy(binary.source))
    end
    consult(binary.path, function(findings, message)
      if findings then
        return done(findings)
      end
      local what = ("`%s doctor` failed: %s"):format(binary.path, message)
      fail(what, "run it in a terminal and report its output")
    end)
  end)
end

local REPORTERS = { ok = "ok", note = "info", warning = "warn", error = "error" }

--- :checkhealth claude-code
function M.check()
  local findings ---@type claude-code.Finding[]?
  gather(function(found)
    findings = found
  end)
  -- Neovim answers the executable while it waits.
  vim.wait(REPORT_MS, function()
    return findings ~= nil
  end, 10)
  vim.health.start("claude-code.nvim")
  for _, finding in ipairs(findings or M.findings()) do
    vim.health[REPORTERS[finding.level]](finding.what, finding.remedy)
  end
end

--- :Claude status
function M.show()
  local float = require("claude-code.messages.float")
  local first = M.lines(M.findings())
  local buf = float.open("Claude Code", vim.list_extend(first, { "", "checking more …" }))
  gather(function(findings)
    float.fill(buf, M.lines(findings))
  end)
end

return M
