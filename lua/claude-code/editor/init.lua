--- The only entry for the executable: it calls `call`, we tell it things with `notify`.
--- Every answer is `{ value = … }` or `{ error = "…" | { code, message } }`; nothing throws.
local M = {}

---@alias claude-code.Failure string|{ code: string, message: string }
---@alias claude-code.Answer { value?: any, error?: claude-code.Failure }

---@type integer? channel of the executable that is attached
local channel

---@param module string
---@param name string
---@return fun(params: table): any, claude-code.Failure?
local function lazy(module, name)
  return function(params)
    return require("claude-code." .. module)[name](params)
  end
end

---For methods that would show, or tell of, the file `params.path`.
---@param module string
---@param name string
---@return fun(params: table): any, claude-code.Failure?
local function unless_private(module, name)
  local method = lazy(module, name)
  return function(params)
    local privacy = require("claude-code.editor.privacy")
    if privacy.is_private(params.path) then
      return nil, { code = "private", message = privacy.refusal(params.path) }
    end
    return method(params)
  end
end

---Tells a module of the other half, which may be missing in a stripped-down installation.
---@param name string function of claude-code.server
---@param ... any
---@return true
local function tell_server(name, ...)
  local ok, server = pcall(require, "claude-code.server")
  if ok and type(server[name]) == "function" then
    server[name](...)
  end
  return true
end

---@type table<string, fun(params: table): any, claude-code.Failure?>
local methods = {
  attach = function(params)
    return M.attach(params)
  end,
  sync = lazy("editor.sync", "sync"),
  ready = function(params)
    return tell_server("on_ready", params)
  end,
  clients = function(params)
    require("claude-code.editor.selection").clients(params.clients)
    return tell_server("on_clients", params.clients)
  end,
  diff_open = lazy("editor.diff", "open"),
  diff_close = lazy("editor.diff", "close"),
  document_open = unless_private("editor.documents", "open"),
  document_save = unless_private("editor.documents", "save"),
  document_reload = lazy("editor.documents.reload", "now"),
  document_watch = lazy("editor.documents.reload", "watch"),
  tab_close = lazy("editor.documents.close", "close"),
  document_text = unless_private("editor.documents.text", "read"),
  buffer_sizes = lazy("editor.columns.codepoints", "sizes"),
  selection = lazy("editor.selection", "now"),
  latest_selection = lazy("editor.selection", "latest"),
  mentions_delivered = lazy("context.mention", "delivered"),
  region = lazy("editor.methods.selection", "now"),
  cursor = lazy("editor.methods.cursor", "now"),
  context = lazy("editor.methods.cursor", "context"),
  snapshot = lazy("editor.sync.delta", "snapshot"),
  report = function()
    return require("claude-code.status").report()
  end,
  prompted = lazy("editor.session.activity", "prompted"),
  problems = lazy("editor.diagnostics.files", "list"),
  problem_context = lazy("editor.diagnostics.files", "context"),
  session_start = lazy("editor.session", "start"),
  session_edited = lazy("editor.session", "edited"),
  session_news = lazy("editor.session", "news"),
  session_summary = lazy("editor.session", "summary"),
  session_held = lazy("editor.session", "held"),
  session_released = lazy("editor.session", "released"),
  session_finish = lazy("editor.session", "finish"),
  session_problems = lazy("editor.session", "problems"),
}

---Runs one method for the executable.
---@param method string
---@param params? table
---@return claude-code.Answer
function M.call(method, params)
  local handler = methods[method]
  if not handler then
    return {
      error = ("the plugin has no method %q: update plugin and executable together"):format(method),
    }
  end
  local ok, value, failure = xpcall(handler, debug.traceback, params or {})
  if ok and vim.startswith(method, "session_") then
    require("claude-code.editor.session.activity").heard(method, params)
  end
  if not ok then
    require("claude-code.messages.log").error("%s failed: %s", method, value)
    local first = tostring(value):match("^[^\n]*")
    return { error = ("%s failed in Neovim: %s (see :ClaudeCodeLog)"):format(method, first) }
  end
  if failure ~= nil then
    return { error = failure }
  end
  -- A plain {} would travel as a list.
  return value == nil and vim.empty_dict() or { value = value }
end

---@class claude-code.AttachInfo
---@field channel integer
---@field contract? integer
---@field version? string
---@field pid? integer

---Takes the executable on; one that was attached before is let go first.
---@param info claude-code.AttachInfo
---@return claude-code.Delta? full
---@return claude-code.Failure?
function M.attach(info)
  local contract = require("claude-code.server.contract").number
  if info.contract and info.contract ~= contract then
    return nil,
      ("the executable speaks contract %d, the plugin %d: rebuild or update one of them"):format(
        info.contract,
        contract
      )
  end
  if type(info.channel) ~= "number" then
    return nil, "attach needs the number of the executable's channel"
  end
  M.detach()
  channel = info.channel
  local delta = require("claude-code.editor.sync").start()
  require("claude-code.editor.selection").start()
  require("claude-code.editor.input.keyboard").follow()
  tell_server("on_attach", channel, {
    version = info.version,
    on_gone = function()
      M.detach(info.channel)
    end,
  })
  if package.loaded["claude-code.context.mention"] then
    require("claude-code.context.mention").resume()
  end
  return delta
end

---setup() was called again: takes over what is looked at only once.
function M.follow_options()
  if channel then
    require("claude-code.editor.selection").restart(require("claude-code.server").clients)
  end
end

---Lets the executable go: its diffs close, autocommands go, nothing is sent any more.
---@param which? integer only if this channel is the attached one
function M.detach(which)
  if not channel or (which and which ~= channel) then
    return
  end
  channel = nil
  pcall(vim.api.nvim_del_augroup_by_name, "claude-code.editor")
  require("claude-code.editor.sync").stop()
  require("claude-code.editor.selection").stop()
  require("claude-code.editor.input.keyboard").unfollow()
  if package.loaded["claude-code.editor.diff"] then
    require("claude-code.editor.diff").abandon()
  end
  if package.loaded["claude-code.editor.documents.reload"] then
    require("claude-code.editor.documents.reload").stop()
  end
end

---Sends an event to the executable.
---@param event "state"|"diff_ended"|"selection"|"mention"|"mentions_withdrawn"|"log_event"|"shutdown"
---@param payload table
---@return boolean sent
function M.notify(event, payload)
  if not channel then
    return false
  end
  local target = channel
  local ok = pcall(vim.rpcnotify, target, "claude_code", event, payload)
  if not ok then
    vim.schedule(function()
      M.detach(target)
    end)
  end
  return ok
end

---Is an executable attached, and its channel open? Detaches if the channel turns out closed:
---no event of Neovim's tells that.
---@return boolean
function M.is_attached()
  if channel and next(vim.api.nvim_get_chan_info(channel)) == nil then
    M.detach(channel)
  end
  return channel ~= nil
end

---Accepts the diff on screen (or the one with this id).
---@param id? integer|string
---@return boolean? done nil if there is none; false if not, and the person was told why
function M.accept(id)
  return require("claude-code.editor.diff").accept(id)
end

---Hands files or lines to Claude's prompt.
---@param args claude-code.MentionArgs
---@return boolean accepted
function M.mention(args)
  return require("claude-code.context.mention").command(args)
end

---Tells clients what the user did with the plugin (spec 03, 5.4), if the option log_events is on.
---@param name "run_claude_command"
---@param data table<string, any>
function M.log_event(name, data)
  if require("claude-code.config").get().log_events then
    M.notify("log_event", { name = name, data = next(data) and data or vim.empty_dict() })
  end
end

---Rejects the diff on screen (or the one with this id).
---@param id? integer|string
---@return boolean? done nil if there is none
function M.reject(id)
  return require("claude-code.editor.diff").reject(id)
end

---Does what a key of the diff on screen does.
---@param action claude-code.DiffAction
---@return boolean? done nil if there is none
function M.in_diff(action)
  return require("claude-code.editor.diff").act(action)
end

return M
