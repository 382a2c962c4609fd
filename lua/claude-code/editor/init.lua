--- The methods that the executable may call, by RPC. src/editor/methods.ts describes their parameters and results, and
--- src/editor/model.ts the tables inside. Every answer is `{ value = … }` or `{ error = { code, message } }`; nothing
--- throws. A method returns its value, or nil and a failure; a plain sentence gets the code "refused".
local channel = require("claude-code.server.channel")
local scope = require("claude-code.editor.documents.scope")

local M = {}

---@alias claude-code.Failure string|{ code: string, message: string }
---@alias claude-code.Answer { value?: any, error?: { code: string, message: string } }

local function lazy(module, name)
  return function(params)
    return require("claude-code." .. module)[name](params)
  end
end

---@param info { channel: integer, contract?: integer, version?: string }
local function attach(info)
  local contract = require("claude-code.install.contract").number
  if info.contract and info.contract ~= contract then
    local text = "the executable has contract %d, the plugin %d: rebuild or update one of them"
    return nil, text:format(info.contract, contract)
  end
  channel.attach(info.channel)
  local delta = require("claude-code.editor.sync").start()
  require("claude-code.editor.selection").start()
  require("claude-code.editor.review").start()
  require("claude-code.editor.input.keyboard").follow()
  require("claude-code.editor.documents.parsing").start()
  require("claude-code.server").on_attach(info.version)
  local followers = "sessions.transcripts sessions.mod editor.transcript remote context.mention"
  for name in vim.gsplit(followers, " ") do
    local follower = package.loaded["claude-code." .. name]
    if follower then
      follower.on_attach()
    end
  end
  if require("claude-code.config").get().terminal.keep then
    require("claude-code.terminal.running").adopt()
  end
  return delta
end

---Reloads buffers first, since the CLI may ask about a file that it has just written.
local function sync()
  require("claude-code.editor.documents.auto_reload").catch_up()
  return require("claude-code.editor.sync").take()
end

local function end_clients()
  require("claude-code.sessions").clients({})
  require("claude-code.editor.documents.auto_reload").set("clients", nil)
end

---@param params { clients: claude-code.Client[] }
local function set_clients(params)
  local clients = params.clients
  channel.on_detach(end_clients)
  local holds = #clients > 0 and channel.is_attached or nil
  require("claude-code.editor.documents.auto_reload").set("clients", holds)
  require("claude-code.server").on_clients(clients)
  require("claude-code.editor.selection").follow_cursor()
  require("claude-code.sessions").clients(clients)
end

local function on_review(summary)
  require("claude-code.sessions.sources").on_setups(summary.setups)
  require("claude-code.editor.review").on_changed(summary)
  local store = "claude-code.editor.review.comments.store"
  if #summary.comments > 0 or package.loaded[store] then
    require("claude-code.editor.review.comments.store").reported(summary.comments)
  end
end

local function on_permission(params)
  local answer, request = require("claude-code.sessions.requests").add(params)
  if request and request.plan and require("claude-code.config").get().permissions.plan then
    require("claude-code.permissions.plan").offer(request)
  end
  return answer
end

---@type table<string, fun(params: table): any, claude-code.Failure?>
local methods = {
  attach = attach,
  sync = sync,
  ready = lazy("server", "on_ready"),
  ping = function()
    return true
  end,
  lock_problem = lazy("server", "on_lock_problem"),
  clients = set_clients,
  sessions_changed = lazy("sessions.sources", "on_report"),
  diff_open = lazy("editor.diff", "open"),
  diff_close = lazy("editor.diff", "close"),
  diff_unwritten = lazy("editor.diff.buffers", "unwritten"),
  document_open = lazy("editor.open_file", "open"),
  document_save = lazy("editor.documents", "save"),
  document_reload = lazy("editor.documents.reload", "now"),
  edit_is_held = lazy("editor.documents.hold", "is_needed"),
  edit_hold = lazy("editor.documents.hold", "wait"),
  document_watch = lazy("editor.documents.auto_reload", "expect_write"),
  tab_close = lazy("editor.open_file", "close"),
  document_text = lazy("editor.documents", "read"),
  buffer_sizes = lazy("editor.columns", "sizes"),
  selection = lazy("editor.selection", "now"),
  latest_selection = lazy("editor.selection", "latest"),
  mentions_delivered = lazy("context.mention", "delivered"),
  rename_symbol = lazy("editor.edits.rename", "symbol"),
  code_action = lazy("editor.edits.code_action", "run"),
  edits_apply = lazy("editor.edits.apply", "run"),
  region = lazy("editor.selection", "region"),
  cursor = lazy("editor.methods.cursor", "now"),
  context = lazy("editor.methods.cursor", "context"),
  snapshot = lazy("editor.sync", "snapshot"),
  report = lazy("health", "report"),
  prompt_edit = lazy("editor.prompt.edit", "open"),
  prompt_submit = lazy("terminal.prompt", "submit_for_user"),
  permission_wanted = lazy("sessions.requests", "wanted"),
  permission_request = on_permission,
  problems = lazy("editor.methods.problems", "list"),
  problem_context = lazy("editor.methods.problems", "context"),
  session_start = lazy("editor.turn_check", "start"),
  session_edited = lazy("editor.turn_check", "edited"),
  session_new_problems = lazy("editor.turn_check", "new_problems"),
  session_summary = lazy("editor.turn_check", "summary"),
  session_changed = lazy("editor.turn_check", "changed"),
  session_blocked = lazy("editor.turn_check", "blocked"),
  session_allowed = lazy("editor.turn_check", "allowed"),
  session_finish = lazy("editor.turn_check", "finish"),
  session_problems = lazy("editor.turn_check", "problems"),
  remote_state = lazy("remote", "on_state"),
  request_answer = lazy("server.channel", "on_answer"),
  transcript_news = lazy("sessions.transcripts", "on_news"),
  transcript_changed = lazy("editor.transcript", "on_changed"),
  answer_written = lazy("sessions.mod", "on_written"),
  review_comments = lazy("editor.review.comments", "take"),
  review_changed = on_review,
  task_start = function(params)
    return require("claude-code.lib.task").start(params, function()
      return M.call(params.method, params.params)
    end, scope.resuming())
  end,
  task_cancel = lazy("lib.task", "cancel"),
  find_symbol = lazy("editor.language.find", "definition"),
  find_references = lazy("editor.language.find", "related"),
  outline = lazy("editor.language.find", "outline"),
  when_settled = function(params)
    return require("claude-code.editor.methods.problems").when_settled(params, function()
      return M.call(params.method, params.params)
    end)
  end,
}

---Methods that send neither the text of a file nor whether it exists. All others refuse the path of a private file.
local FOR_PRIVATE_FILES = {
  diff_open = true,
  diff_unwritten = true,
  document_reload = true,
  edit_hold = true,
  edit_is_held = true,
  document_watch = true,
  session_changed = true,
  session_edited = true,
  session_new_problems = true,
  tab_close = true,
}

local function run(method, handler, params)
  local path_params = require("claude-code.editor.path_params")
  local checked, failure = path_params.checked(params, FOR_PRIVATE_FILES[method] or false)
  if not checked then
    return nil, failure
  end
  local row = checked.remote and require("claude-code.sessions").get({ n = checked.n })
  if row and row.remote ~= checked.remote then
    checked.n = nil -- The hook of a remote gave the number of a session that does not run there.
  end
  return handler(checked)
end

local function failed(failure)
  return { error = type(failure) == "table" and failure or { code = "refused", message = failure } }
end

---@param params? table `shared`: folders that a Claude on another machine shares with this one
---@return claude-code.Answer
function M.call(method, params)
  local handler = methods[method]
  if not handler then
    local text = "the plugin has no method %q: update plugin and executable together"
    return failed(text:format(method))
  end
  params = params or {}
  local ok, value, failure = xpcall(function()
    return scope.run(params.shared, run, method, handler, params)
  end, debug.traceback)
  if not ok then
    require("claude-code.messages.log").error("%s failed: %s", method, value)
    local first = tostring(value):match("^[^\n]*")
    local text = "%s failed in Neovim: %s (see :Claude log)"
    return failed({ code = "defect", message = text:format(method, first) })
  end
  if failure ~= nil then
    return failed(failure)
  end
  -- A plain {} would be sent as a list.
  return value == nil and vim.empty_dict() or { value = value }
end

return M
