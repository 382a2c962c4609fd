--- Files that a CLI opens by $VISUAL: its prompt (Ctrl+G), the conversation as text (Ctrl+O, `v`), plans and memory
--- files; and git's message of a commit. `claude-code-nvim edit` waits for the end.
local api = vim.api
local sessions = require("claude-code.sessions")

local M = {}

--- The CLI draws no more once it drew nothing for so long; in all, that takes at most so many looks.
local QUIET_MS, MAX_LOOKS = 200, 50

---@class claude-code.EditorFile
---@field path string
---@field kind "prompt"|"transcript"|"document"|"commit"
---@field line? integer 1-based
---@field n? integer number of the session whose CLI opens it
---@field channel integer of the program that waits
---@field id integer its number for that

--- The program goes on, and so does the CLI.
---@return boolean received false if it has ended
local function finish(params, value)
  local payload = { id = params.id, answer = { value = value ~= false } }
  local received = pcall(vim.rpcnotify, params.channel, "claude_code", "settled", payload)
  if params.n then
    sessions.set(params.n, { msg = vim.NIL, edits = vim.NIL })
  end
  return received
end

--- Calls back, with its lines, once no window shows the buffer any more.
---@param callback fun(lines: string[])
---@return claude-code.Autocommands until then
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

--- Nobody reads the file any more.
---@param lines string[] that the user has written for a Claude which has ended
local function keep_draft(params, lines)
  local draft = require("claude-code.editor.prompt").draft(params.n or 1)
  local problem = draft:keep(vim.list_extend(draft:read(), lines))
  local notify = require("claude-code.messages.notify")
  if problem then
    return notify.error(("Claude has ended; your prompt is in %s: %s"):format(params.path, problem))
  end
  vim.uv.fs_unlink(params.path)
  notify.warn("Claude has ended; :Claude prompt shows your draft")
end

--- git's message: whether it was written says whether git goes on. A draft counts as not written yet.
local function open_message(params, buf)
  require("claude-code.editor.prompt").open_window(buf)
  vim.cmd.edit({ bang = true })
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modified = api.nvim_buf_get_lines(buf, 0, 1, false)[1] ~= ""
  require("claude-code.editor.prompt.message").attach(buf)
  local written = false
  when_closed(buf, function()
    finish(params, written)
  end):on("BufWritePost", function()
    written = true
  end, { buffer = buf })
end

--- Asks the executable, as any program can ask for this.
local function check_message(params)
  local real = require("claude-code.editor.documents.path").real
  require("claude-code.server.requests").request("review/message_file", {}, function(path)
    local is_message = type(path) == "string" and real(path) == real(params.path)
    local buf = is_message and require("claude-code.editor.documents.load").of_file(params.path)
    if buf and not vim.bo[buf].modified then
      return open_message(params, buf)
    end
    local why = buf and "its buffer has unsaved edits: write them, and commit again"
      or "it is the message of no commit that is under way"
    require("claude-code.messages.notify").warn(("%s was not opened: %s"):format(params.path, why))
    finish(params, false)
  end)
end

--- The CLI (2.1.330) leaves on its screen that it waits. It deletes the file when it takes the text back, and draws it
--- a moment later.
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

---@param params claude-code.EditorFile
---@return { answer?: table } at once where nobody has to wait
---@return claude-code.Failure?
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
    local buf = require("claude-code.editor.documents.load").of_file(params.path)
    require("claude-code.editor.documents.parsing").set_filetype(buf, "markdown")
    vim.bo[buf].bufhidden = "wipe"
    vim.b[buf].claude_code_prompt = true
    local prompt = require("claude-code.editor.prompt")
    local win = prompt.open_window(buf, params.n)
    if params.kind == "prompt" then
      prompt.show_bar(win, "Claude's prompt", ":wq gives it back")
      require("claude-code.editor.prompt.completion").attach(buf)
    end
  end
  if params.kind == "transcript" then
    return { answer = { value = true } }
  end
  local buf = api.nvim_get_current_buf()
  if params.n then
    sessions.set(params.n, { msg = "waits for what you write", edits = true })
  end
  when_closed(buf, function(lines)
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
