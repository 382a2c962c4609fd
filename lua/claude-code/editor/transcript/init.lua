--- Shows conversations with Claude in buffers. The executable (src/transcript/) reads them from the files of the CLI.
local api = vim.api
local buffers = require("claude-code.editor.transcript.buffer")
local notify = require("claude-code.messages.notify")
local open_file = require("claude-code.editor.open_file")
local channel = require("claude-code.server.channel")
local sessions = require("claude-code.sessions")
local windows = require("claude-code.editor.windows")

local M = {}

local shown = {} ---@type table<integer, claude-code.Transcript> by buffer

---The function of 'foldexpr'.
---@param row integer 1-based
function M.fold(row)
  local transcript = shown[api.nvim_get_current_buf()]
  local fold = transcript and transcript.folds[row] or "0"
  return fold == ">" and ">1" or fold
end

local OPTIONS = {
  foldmethod = "expr",
  foldexpr = "v:lua.require'claude-code.editor.transcript'.fold(v:lnum)",
  foldtext = "",
  foldlevel = 0,
  foldenable = true,
  fillchars = "fold: ",
  conceallevel = 0,
  wrap = true,
  linebreak = true,
  breakindent = true,
  list = false,
  spell = false,
}

local function find(id, agent)
  return vim.iter(vim.tbl_values(shown)):find(function(transcript)
    return transcript.id == id and transcript.agent == agent
  end)
end

---Shows a conversation in the window of Claude's terminal.
local function show(transcript)
  local win = require("claude-code.terminal.window").show(transcript.buf)
  windows.set_options(win, OPTIONS)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(transcript.buf), 0 })
  vim.cmd.normal({ "zb", bang = true })
end

local function go_to_prompt(transcript, step)
  local row = api.nvim_win_get_cursor(0)[1]
  local found = transcript:prompt_from(row, step, vim.v.count1)
  if found then
    vim.cmd.normal({ "m'", bang = true })
    api.nvim_win_set_cursor(0, { found, 0 })
  end
end

---Restores the files as they were before the prompt above the cursor.
local function restore(transcript)
  local row = transcript:prompt_from(api.nvim_win_get_cursor(0)[1] + 1, -1, 1)
  local wanted = { session = transcript.id, at = row and transcript:mark_at(row).prompt or 0 }
  require("claude-code.editor.review.turns").restore(wanted, function(scope)
    require("claude-code.editor.review").open(scope, true)
  end)
end

local function type_to_claude(transcript)
  local row = sessions.get({ id = transcript.id })
  if row and row.n then
    require("claude-code.terminal.running").focus(row.n)
  else
    notify.info("this conversation does not run here; :Claude sessions resumes it")
  end
end

---Goes to a place; without one, to the subject of the line's call; without that, opens the fold.
---@param line? integer 1-based
local function open_at(transcript, path, line)
  local row = api.nvim_win_get_cursor(0)[1]
  local mark = transcript:mark_at(row) or {}
  if not path then
    path, line = mark.path, mark.line
    if mark.agent then
      return M.open(transcript.id, mark.agent, transcript.remote)
    elseif not path and transcript.folds[row] ~= "0" then
      return vim.cmd.normal({ "za", bang = true })
    elseif not path then
      return notify.info("this line names no file")
    end
  end
  local _, problem = open_file.at(path, line)
  if problem then
    notify.error(problem)
  end
end

---Opens the place under the cursor, or whatever `open_at` finds without one. The executable translates names of a
---remote to files here.
local function open(transcript)
  local row = sessions.get({ id = transcript.id }) or {}
  local name = open_file.name_under_cursor()
  if name:match("^https?://") then
    return vim.ui.open(name)
  elseif not transcript.remote then
    return open_at(transcript, open_file.named(name, row.cwd))
  end
  local bare, line = open_file.split_name(name)
  local params = { view = transcript.view or -1, name = bare, folder = row.cwd }
  channel.ask("transcript/place", params, function(path)
    open_at(transcript, path, path and line)
  end)
end

local function map_keys(transcript)
  local function map(key, desc, run, modes)
    vim.keymap.set(modes or "n", key, function()
      run(transcript)
    end, { buffer = transcript.buf, desc = desc, nowait = true })
  end
  for key, step in pairs({ ["]]"] = 1, ["[["] = -1 }) do
    map(key, step == 1 and "Next prompt" or "Previous prompt", function()
      go_to_prompt(transcript, step)
    end, { "n", "x", "o" })
  end
  for _, key in ipairs({ "<CR>", "gf", "gF" }) do
    map(key, "Open the place in a window beside", open)
  end
  map("gR", "Restore the files to before this prompt", restore)
  for _, key in ipairs({ "i", "a", "I", "A" }) do
    map(key, "Type to Claude", type_to_claude)
  end
end

local function attach(transcript)
  local buf = transcript.buf
  shown[buf] = transcript
  vim.b[buf].claude_code_terminal = true -- The window counts as Claude's.
  local events = require("claude-code.lib.autocommands").new("transcript." .. buf)
  events:on("BufWinEnter", function()
    windows.set_options(api.nvim_get_current_win(), OPTIONS)
    transcript:follow()
  end, { buffer = buf })
  events:on("BufHidden", function()
    transcript:stop_following()
  end, { buffer = buf })
  local on_unloaded = vim.schedule_wrap(function()
    -- `:edit` also unloads the buffer, but has loaded it again by now.
    if api.nvim_buf_is_loaded(buf) then
      return
    end
    events:stop()
    shown[buf] = nil
    transcript:stop_following()
    if transcript.view then
      channel.request("transcript/close", { view = transcript.view }, function() end)
      transcript.view = nil
    end
  end)
  events:on("BufUnload", on_unloaded, { buffer = buf })
  require("claude-code.editor.documents.parsing").set_filetype(buf, "markdown")
  map_keys(transcript) -- Overrides keys of the file type.
  require("claude-code.server.channel").on_detach(M.detach)
end

---Stops following, since the executable has ended.
function M.detach()
  for _, transcript in pairs(shown) do
    transcript.view = nil
    transcript:drop_written()
  end
end

local asked = {} ---@type table<string, true> conversations that the executable is reading

---Reads a conversation and follows it.
---@param on_read? fun(transcript: claude-code.Transcript)
local function read(id, agent, remote, on_read)
  local key = id .. "/" .. (agent or "")
  if asked[key] then
    return
  end
  asked[key] = true
  local params = { session = id, agent = agent, remote = remote }
  channel.request("transcript/open", params, function(value, problem)
    asked[key] = nil
    if problem then
      return notify.error(problem)
    end
    local transcript = find(id, agent) or buffers.new(id, agent)
    transcript.view, transcript.remote = value.view, remote
    if not shown[transcript.buf] then
      attach(transcript)
    end
    transcript:change({ view = value.view, restarted = true, block = value.block })
    if on_read then
      on_read(transcript)
    end
  end)
end

---Shows a conversation, or that of a subagent. Reads that of a remote again: it grows only while an answer is written.
---@param agent? string
---@param remote? string name
function M.open(id, agent, remote)
  local known = find(id, agent)
  if known and known.view and not remote then
    show(known)
  else
    read(id, agent, remote, show)
  end
end

local function read_again(transcript)
  read(transcript.id, transcript.agent, transcript.remote)
end

---Lets a new executable follow the conversations.
function M.on_attach()
  vim.iter(vim.tbl_values(shown)):each(read_again)
end

---Fills a buffer that Neovim has emptied (`:edit!`).
---@return boolean is_transcript
function M.refill(buf)
  if shown[buf] then
    read_again(shown[buf])
  end
  return shown[buf] ~= nil
end

---Shows the conversation of a session, or a past conversation.
---@param row claude-code.SessionRow|claude-code.Conversation
function M.of_row(row)
  if row.id then
    M.open(row.id, nil, row.remote)
  else
    notify.info("this session has not said yet which conversation it is; try again in a moment")
  end
end

function M.on_changed(update)
  local transcript = vim.iter(vim.tbl_values(shown)):find(function(transcript)
    return transcript.view == update.view
  end)
  if transcript and api.nvim_buf_is_loaded(transcript.buf) then
    transcript:change(update)
  end
  return true
end

local function entry_of(step)
  local is_search = step.act == "searched"
  return {
    filename = not is_search and step.path or nil,
    lnum = step.first or 1,
    end_lnum = step.last,
    text = is_search and "searched for " .. step.subject or step.act,
  }
end

---Fills the quickfix list with places that Claude read, searched and edited. Steps in private files, and steps before
---the last thousand, are only counted.
---@param row claude-code.SessionRow
---@param turn "last"|"all"|integer
function M.trail(row, turn)
  local params = { session = row.id, remote = row.remote, turn = turn }
  channel.ask("transcript/trail", params, function(trail)
    local count = trail.hidden > 0 and (" (and %d of private files)"):format(trail.hidden) or ""
    if trail.left_out > 0 then
      count = ("%s (%d before them are left out)"):format(count, trail.left_out)
    end
    if #trail.steps == 0 then
      return notify.info("Claude read, searched and edited nothing there" .. count)
    end
    local part = turn == "last" and "this turn" or "turn " .. turn
    part = turn == "all" and "the conversation" or part
    local title = ("Claude's trail: %s%s"):format(part, count)
    vim.fn.setqflist({}, " ", { title = title, items = vim.tbl_map(entry_of, trail.steps) })
    vim.cmd("botright copen")
  end)
end

return M
