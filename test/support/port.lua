--- The tests' questions to the plugin's internals. The only place in test/ that knows names of its modules and
--- fields: a rename there is a change here. In a TestNeovim it is `require("port")`.
local api = vim.api

---Modules that tests call directly, as `require("port").log.path()`. Each is loaded at its first use.
local MODULES = {
  archive = "claude-code.install.archive",
  autostart = "claude-code.server.autostart",
  background = "claude-code.editor.documents.background",
  channel = "claude-code.server.channel",
  claude_cli = "claude-code.claude.cli",
  checked_sessions = "claude-code.editor.turn_check.sessions",
  clock = "claude-code.editor.input.keyboard",
  columns = "claude-code.editor.columns",
  comments = "claude-code.editor.review.comments",
  config = "claude-code.config",
  contract = "claude-code.install.contract",
  dispatcher = "claude-code.editor",
  endpoint = "claude-code.server.endpoint",
  glob = "claude-code.editor.privacy.glob",
  install = "claude-code.install",
  language_files = "claude-code.editor.language.files",
  language_servers = "claude-code.editor.diagnostics.pending",
  launch = "claude-code.terminal.start",
  log = "claude-code.messages.log",
  messages = "claude-code.messages.notify",
  native_terminal = "claude-code.terminal.providers.native",
  parsing = "claude-code.editor.documents.parsing",
  paths = "claude-code.editor.documents.path",
  platform = "claude-code.lib.platform",
  pending_reports = "claude-code.editor.diagnostics.pending",
  privacy = "claude-code.editor.privacy",
  programs = "claude-code.programs",
  executable = "claude-code.install.executable",
  proposal_text = "claude-code.editor.diff.text",
  release = "claude-code.install.release",
  regular_files = "claude-code.lib.regular_file",
  review = "claude-code.editor.review.review",
  review_decide = "claude-code.editor.review.decide",
  remote = "claude-code.remote",
  mentions = "claude-code.context.mention",
  mod = "claude-code.sessions.mod",
  prompt = "claude-code.terminal.prompt",
  running = "claude-code.terminal.running",
  selection = "claude-code.editor.selection",
  server = "claude-code.server",
  sessions = "claude-code.editor.turn_check",
  session_list = "claude-code.sessions.label",
  session_rows = "claude-code.sessions",
  session_sources = "claude-code.sessions.sources",
  statusline = "claude-code.statusline",
  supply = "claude-code.editor.documents.supply",
  terminal = "claude-code.terminal",
  timer = "claude-code.lib.timer",
  transcript = "claude-code.editor.transcript",
  tmux = "claude-code.terminal.providers.tmux",
  window = "claude-code.terminal.window",
  workspace = "claude-code.lib.workspace",
}

local M = setmetatable({}, {
  __index = function(_, name)
    return require(MODULES[name] or error("the test port has no " .. name))
  end,
})

function M.is_loaded(name)
  return package.loaded[MODULES[name]] ~= nil
end

---@return string[] lines that `:Claude status` shows at once
function M.status_lines()
  local status = require("claude-code.health")
  return status.lines(status.findings())
end

---Makes the next use of a module load it again.
function M.unload(name)
  package.loaded[MODULES[name]] = nil
end

---@return integer buf of a file, loaded and not shown
function M.load(path)
  local buf = vim.fn.bufadd(path)
  vim.fn.bufload(buf)
  return buf
end

local function diff()
  return require("claude-code.editor.diff")
end

---@param path? string the proposal is for this file
---@return boolean a diff is on screen and not decided
function M.diff_shown(path)
  local shown = diff().current()
  return shown ~= nil and (path == nil or shown.proposal.new_path == path)
end

---@return boolean no diff is on screen or about to be
function M.no_diff()
  return diff().current() == nil
end

---@return boolean the diff on screen takes keys that decide
function M.diff_decidable()
  local shown = diff().current()
  return shown ~= nil and not shown.view.guard:is_active()
end

---@return { old: integer, new: integer } buffers of the diff on screen
function M.diff_buffers()
  local shown = diff().current()
  return { old = shown.proposal.old_buf, new = shown.proposal.new_buf }
end

---@return integer[] windows of the diff on screen
function M.diff_windows()
  return diff().current().view.layout.windows
end

---@return integer[] windows that show a side of any diff
function M.diff_windows_left()
  return vim.tbl_filter(function(win)
    local name = api.nvim_buf_get_name(api.nvim_win_get_buf(win))
    return vim.startswith(name, "claude-code://")
  end, api.nvim_list_wins())
end

---@return integer window with the proposal
function M.diff_window()
  return diff().current().view.layout.win
end

---@return string such as "shown 2", "wait 2" with none on screen, or "gone"; "closing" between them
function M.diff_state()
  local count, is_open = diff().count(), not M.no_diff()
  local is_left = vim.iter(api.nvim_list_bufs()):any(function(buf)
    return api.nvim_buf_get_name(buf):find("^claude%-code://%d") ~= nil
  end)
  if is_open then
    return "shown " .. count
  elseif #M.diff_windows_left() > 0 or count == 0 and is_left then
    return "closing"
  end
  return count == 0 and "gone" or "wait " .. count
end

---@param side "old"|"new"
---@return string what this side of the diff on screen holds, with "\n" at the end
function M.diff_text(side)
  local lines = api.nvim_buf_get_lines(M.diff_buffers()[side], 0, -1, false)
  return table.concat(lines, "\n") .. "\n"
end

---@return table[] hunks of the diff on screen
function M.hunks()
  return diff().current().proposal:hunks().list
end

---@param folder? string
---@return table setup what a CLI that starts there finds in its settings files
function M.folder_setup(folder)
  local setup
  local params = { folder = folder or M.workspace.tab_folder(0) }
  M.channel.request("sessions/setup", params, function(found)
    setup = found or {}
  end)
  vim.wait(5000, function()
    return setup ~= nil
  end, 1)
  return setup
end

---@return string[] arguments that give a CLI the plugin
function M.plugin_arguments()
  return M.launch.plugin_arguments()
end

---Ends what the executable has begun, as when it is gone.
function M.detach()
  M.channel.detach()
  diff().abandon()
end

---Makes the plugin check things without an event 20 times as often.
function M.look_often()
  local timer = require("claude-code.lib.timer")
  local every = timer.every
  timer.every = function(ms, callback)
    return every(math.ceil(ms / 20), callback)
  end
end

---@return integer diffs on screen and waiting
function M.diff_count()
  return diff().count()
end

---@param id? integer without it the diff on screen
function M.accept(id)
  local found = id and diff().find(id) or diff().current()
  return found and found:accept()
end

---@param id? integer without it the diff on screen
function M.reject(id, reason)
  local found = id and diff().find(id) or diff().current()
  return found and found:reject(reason)
end

---From now on, shortens time limits and the delays of reports by this factor.
---@return fun() restore
function M.hurry(factor)
  local timer = require("claude-code.lib.timer")
  local once, throttle = timer.once, timer.throttle
  timer.once = function(ms, callback)
    return once(math.floor(ms / factor), callback)
  end
  timer.throttle = function(limits, callback)
    local least, most = limits.min_ms / factor, limits.max_ms / factor
    return throttle({ min_ms = least, max_ms = most, share = limits.share }, callback)
  end
  return function()
    timer.once, timer.throttle = once, throttle
  end
end

local real_clock ---@type { now: fun(): number, after: function }?

---Ends what `hold_clock` began.
function M.run_clock()
  local clock = require("claude-code.editor.input.keyboard")
  for name, real in pairs(real_clock or {}) do
    clock[name] = real
  end
end

---Measures pauses in typing with a clock that moves only when `advance` is called.
---@return fun(ms: number) advance runs what is due by then, in its order
---@return fun(): integer waiting count of what is not due yet
function M.hold_clock()
  local clock = require("claude-code.editor.input.keyboard")
  real_clock = real_clock or { now = clock.now, after = clock.after }
  local now, waiting = clock.now(), {} ---@type number, { at: number, run: fun() }[]
  clock.now = function()
    return now
  end
  clock.after = function(ms, callback)
    local entry = { at = now + ms, run = callback }
    table.insert(waiting, entry)
    return function()
      entry.run = function() end
    end
  end
  return function(ms)
    local till = now + ms
    local function next_due()
      table.sort(waiting, function(a, b)
        return a.at < b.at
      end)
      return waiting[1] and waiting[1].at <= till and table.remove(waiting, 1) or nil
    end
    for entry in next_due do
      now = entry.at
      entry.run()
    end
    now = till
  end, function()
    return #waiting
  end
end

---A language server inside Neovim, for `cmd` of vim.lsp.start().
---@param on? table<"request"|"notify", function> what it does besides initialize
function M.language_server(capabilities, on)
  on = on or {}
  return function()
    local is_closing = false
    return {
      request = function(method, params, done)
        if method == "initialize" then
          done(nil, { capabilities = capabilities })
        elseif on.request then
          on.request(method, params, done)
        else
          done(nil, vim.NIL)
        end
        return true, 1
      end,
      notify = function(method, params)
        if on.notify then
          on.notify(method, params)
        end
        return true
      end,
      is_closing = function()
        return is_closing
      end,
      terminate = function()
        is_closing = true
      end,
    }
  end
end

---The name by which users know a buffer.
local function shown_name(buf)
  local type, name = vim.bo[buf].buftype, vim.fs.basename(api.nvim_buf_get_name(buf))
  return (type == "quickfix" or type == "terminal" or type == "help") and type
    or name ~= "" and name
    or "unnamed"
end

local function drawn_bar(win)
  local options = { winid = win, use_winbar = true }
  return api.nvim_eval_statusline(vim.wo[win].winbar, options).str
end

local function buffer_text(buf)
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

local function join(list, separator, text_of)
  return vim.iter(list):map(text_of):join(separator)
end

---What users see, by the words of plays.ts.
local SEEN = {
  place = function()
    local row, column = unpack(api.nvim_win_get_cursor(0))
    return ("%s:%d:%d"):format(shown_name(0), row, column + 1)
  end,
  bar = function()
    return drawn_bar(0)
  end,
  bars = function()
    return table.concat(vim.tbl_map(drawn_bar, api.nvim_tabpage_list_wins(0)), "\n")
  end,
  list = function()
    return join(vim.fn.getqflist(), " ", function(item)
      local name = item.module ~= "" and item.module or vim.fn.bufname(item.bufnr)
      return ("%s:%d"):format(vim.fs.basename(name), item.lnum)
    end)
  end,
  texts = function()
    return join(vim.fn.getqflist(), "\n", function(item)
      return item.text
    end)
  end,
  entry = function()
    return vim.fn.getqflist({ idx = 0 }).idx
  end,
  windows = function()
    return join(api.nvim_tabpage_list_wins(0), " ", function(win)
      return shown_name(api.nvim_win_get_buf(win))
    end)
  end,
  mode = function()
    return api.nvim_get_mode().mode
  end,
  says = function()
    return vim.fn.execute("messages")
  end,
  line = api.nvim_get_current_line,
  lines = function()
    return buffer_text(0)
  end,
  screen = function()
    vim.cmd.redraw()
    return join(vim.fn.range(1, vim.o.lines), "\n", function(row)
      return join(vim.fn.range(1, vim.o.columns), "", function(column)
        return vim.fn.screenstring(row, column)
      end)
    end)
  end,
}

---@param words string[] of SEEN, or Vim expressions in braces
---@return table<string, string>
function M.seen(words)
  local seen = {}
  for _, word in ipairs(words) do
    local expression = word:match("^{(.*)}$")
    local value
    if expression then
      value = api.nvim_eval(expression)
    else
      value = SEEN[word]()
    end
    seen[word] = type(value) == "string" and value or vim.fn.string(value)
  end
  return seen
end

return M
