--- Opens files that a CLI edits with $VISUAL: its prompt (Ctrl+G), the conversation as text (Ctrl+O, `v`), plans and
--- memory files; also git's commit message, which Claude writes on a key. `claude-code-nvim edit` waits for the end.
local api = vim.api
local documents = require("claude-code.editor.documents")
local notify = require("claude-code.messages.notify")
local prompts = require("claude-code.editor.prompt")
local channel = require("claude-code.server.channel")
local patch = require("claude-code.editor.documents.patch")
local sessions = require("claude-code.sessions")
local windows = require("claude-code.editor.windows")

local M = {}

---The CLI has finished drawing if nothing changes for QUIET_MS. After MAX_LOOKS such times, we redraw its terminal
---anyway.
local QUIET_MS, MAX_LOOKS = 200, 50

---@type table<integer, { win: integer, is_asked: boolean }> git's messages, by buffer
local messages = {}

---Lets the waiting program continue, and with it the CLI.
---@return boolean received false if the program has ended
local function finish(params, value)
  local payload = { id = params.id, answer = { value = value ~= false } }
  local received = pcall(vim.rpcnotify, params.channel, "claude_code", "settled", payload)
  if params.n then
    sessions.set(params.n, { msg = vim.NIL, edits = vim.NIL })
  end
  return received
end

---Calls back with the lines of the buffer once no window shows it.
---@param callback fun(lines: string[])
---@return claude-code.Autocommands events until then
local function when_closed(buf, callback)
  local events = require("claude-code.lib.autocommands").new("prompt.edit." .. buf)
  local is_closed = false
  events:on({ "BufWinLeave", "BufUnload" }, function()
    local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
    vim.schedule(function()
      local is_shown = api.nvim_buf_is_valid(buf) and #vim.fn.win_findbuf(buf) > 0
      if not is_closed and not is_shown then
        is_closed = true
        events:stop()
        callback(lines)
      end
    end)
  end, { buffer = buf })
  return events
end

---Keeps a prompt as a draft, since its Claude has ended.
local function keep_draft(params, lines)
  local draft = prompts.draft(params.n or 1)
  local problem = prompts.keep_draft(draft, vim.list_extend(prompts.read_draft(draft), lines))
  if problem then
    return notify.error(("Claude has ended; your prompt is in %s: %s"):format(params.path, problem))
  end
  vim.uv.fs_unlink(params.path)
  notify.warn("Claude has ended; :Claude prompt shows your draft")
end

local function message_keys()
  local option = require("claude-code.config").get().review.keys.message
  return require("claude-code.editor.changes.keys").of(option)
end

local function show_message_bar(buf)
  local message, key = messages[buf], message_keys()[1]
  if windows.shows(message.win, buf) then
    local asks = message.is_asked and "Claude writes it …" or key and key .. " asks Claude" or ""
    prompts.show_bar(message.win, "git's message", ":wq commits  :q! does not  " .. asks)
  end
end

---Inserts text at the top, as a separate undo step.
local function insert(buf, text)
  local is_empty = api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ""
  local lines = vim.split(text .. "\n", "\n")
  patch.break_undo(buf)
  api.nvim_buf_set_lines(buf, 0, is_empty and 1 or 0, true, lines)
  patch.break_undo(buf)
end

---Asks Claude for a message about the staged changes, for the current buffer.
function M.ask_message()
  local buf = api.nvim_get_current_buf()
  local message = messages[buf]
  if not message then
    return notify.warn("this is not a commit message: :Claude commit opens one")
  elseif message.is_asked then
    return notify.info("Claude is already writing the message")
  end
  local command, problem = require("claude-code.claude.cli").command()
  if not command then
    return notify.error(problem --[[@as string]])
  end
  local env = require("claude-code.config").get().terminal.env
  local params = { command = command, env = next(env) and env or vim.empty_dict() }
  message.is_asked = true
  show_message_bar(buf)
  channel.request("review/message", params, function(value, failure)
    if messages[buf] ~= message then
      return -- The user has closed the buffer.
    end
    message.is_asked = false
    show_message_bar(buf)
    if value then
      return insert(buf, value.text)
    end
    notify.error(failure --[[@as string]])
  end)
end

---Opens git's message. Git commits if the user writes it; a buffer with a draft counts as modified.
local function open_message(params, buf)
  prompts.open_window(buf)
  vim.cmd.edit({ bang = true })
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modified = api.nvim_buf_get_lines(buf, 0, 1, false)[1] ~= ""
  messages[buf] = { win = api.nvim_get_current_win(), is_asked = false }
  for _, key in ipairs(message_keys()) do
    local options = { buffer = buf, desc = "Ask Claude for the message" }
    vim.keymap.set("n", key, M.ask_message, options)
  end
  show_message_bar(buf)
  local written = false
  local events = when_closed(buf, function()
    messages[buf] = nil
    finish(params, written)
  end)
  events:on("BufWritePost", function()
    written = true
  end, { buffer = buf })
end

---Asks the executable whether the file is git's message, since any program can open a file here.
local function check_message(params)
  local real = require("claude-code.editor.documents.path").real
  channel.request("review/message_file", {}, function(path)
    local is_message = type(path) == "string" and real(path) == real(params.path)
    local buf, problem = nil, "it is not the message of a commit that is under way"
    if is_message then
      buf, problem = documents.load(real(params.path))
    end
    if buf and not vim.bo[buf].modified then
      return open_message(params, buf)
    end
    local why = buf and "its buffer has unsaved edits: write them, and commit again" or problem
    notify.warn(("%s was not opened: %s"):format(params.path, why))
    finish(params, false)
  end)
end

---Redraws the terminal after an edit: the CLI (2.1.330) deletes the file when it takes the text, draws the text a
---moment later, and leaves a note about waiting on its screen.
local function redraw_later(params)
  local looks, before, cancel = 0, nil, nil
  cancel = require("claude-code.lib.timer").every(QUIET_MS, function()
    local row = sessions.get(params.n)
    local is_there = row and row.buf and api.nvim_buf_is_valid(row.buf)
    local drawn = is_there and not vim.uv.fs_stat(params.path) and vim.b[row.buf].changedtick
    looks = looks + 1
    if not is_there or drawn and drawn == before or looks == MAX_LOOKS then
      cancel()
      if is_there then
        require("claude-code.terminal.window.buffer").redraw(row.buf)
      end
    end
    before = drawn
  end)
end

function M.open(params)
  if params.kind == "commit" then
    check_message(params)
    return vim.empty_dict()
  end
  if params.kind == "document" then
    local shown, problem = require("claude-code.editor.open_file").at(params.path, params.line)
    if not shown then
      return {}, problem
    end
  else
    local buf, problem =
      documents.load(require("claude-code.editor.documents.path").normal(params.path))
    if not buf then
      return {}, problem
    end
    require("claude-code.editor.documents.parsing").set_filetype(buf, "markdown")
    vim.bo[buf].bufhidden = "wipe"
    vim.b[buf].claude_code_prompt = true
    local win = prompts.open_window(buf, params.n)
    if params.kind == "prompt" then
      prompts.show_bar(win, "Claude's prompt", ":wq gives it back")
      require("claude-code.editor.prompt.completion").attach(buf)
    end
  end
  if params.kind == "transcript" then
    return { answer = { value = true } }
  elseif params.n then
    sessions.set(params.n, { msg = "waits for what you write", edits = true })
  end
  when_closed(api.nvim_get_current_buf(), function(lines)
    local received = finish(params)
    if params.kind ~= "prompt" then
      return
    elseif not received and table.concat(lines):find("%S") then
      keep_draft(params, lines)
    elseif received and params.n then
      require("claude-code.terminal.running").focus(params.n)
      redraw_later(params)
    end
  end)
  return vim.empty_dict()
end

return M
