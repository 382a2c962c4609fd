--- Conversations with Claude as buffers: read, searched and followed there, never answered. The executable reads
--- the files that the CLI writes; see src/transcript/.
local api = vim.api
local buffers = require("claude-code.editor.transcript.buffer")
local notify = require("claude-code.messages.notify")
local requests = require("claude-code.server.requests")

local M = {}

---@type table<integer, claude-code.Transcript> by their buffers
local shown = {}

--- For 'foldexpr'.
---@param row integer 1-based
---@return string
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

local function set_options(win)
  for name, value in pairs(OPTIONS) do
    api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
end

---@param id string
---@param agent? string
---@return claude-code.Transcript?
local function find(id, agent)
  return vim.iter(vim.tbl_values(shown)):find(function(transcript)
    return transcript.id == id and transcript.agent == agent
  end)
end

---@param transcript claude-code.Transcript
local function forget(transcript)
  shown[transcript.buf] = nil
  if transcript.view then
    requests.request("transcript/close", { view = transcript.view }, function() end)
    transcript.view = nil
  end
end

--- Shows it where Claude's terminal is or would be.
---@param transcript claude-code.Transcript
local function show(transcript)
  local window = require("claude-code.terminal.providers.window")
  local win = window.show(transcript.buf)
  set_options(win)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(transcript.buf), 0 })
  vim.cmd.normal({ "zb", bang = true })
end

---@param transcript claude-code.Transcript
local function attach(transcript)
  local buf = transcript.buf
  shown[buf] = transcript
  -- Its window is Claude's.
  vim.b[buf].claude_code_terminal = true
  local events = require("claude-code.lib.autocommands").new("transcript." .. buf)
  events:on("BufWinEnter", function()
    set_options(api.nvim_get_current_win())
  end, { buffer = buf })
  events:on(
    "BufUnload",
    vim.schedule_wrap(function()
      -- `:edit` unloads it, too.
      if not api.nvim_buf_is_loaded(buf) then
        events:stop()
        forget(transcript)
      end
    end),
    { buffer = buf }
  )
  vim.bo[buf].filetype = "markdown"
  -- After the file type's own.
  require("claude-code.editor.transcript.keys").map(transcript, function(agent)
    M.open(transcript.id, agent, transcript.remote)
  end)
  require("claude-code.server.channel").on_detach(M.detach)
end

--- The executable is gone: nothing is followed any more.
function M.detach()
  for _, transcript in pairs(shown) do
    transcript.view = nil
  end
end

---@type table<string, true> conversations that the executable is asked for
local asked = {}

--- Reads a conversation from its file, and follows it from now on.
---@param id string
---@param agent? string
---@param remote? string where it is
---@param callback fun(transcript: claude-code.Transcript)
local function read(id, agent, remote, callback)
  local key = id .. "/" .. (agent or "")
  if asked[key] then
    return
  end
  asked[key] = true
  local params = { session = id, agent = agent, remote = remote }
  requests.request("transcript/open", params, function(value, problem)
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
    callback(transcript)
  end)
end

--- Shows a conversation, or that of one of its subagents.
---@param id string
---@param agent? string
---@param remote? string where it is
function M.open(id, agent, remote)
  local known = find(id, agent)
  if known and known.view then
    show(known)
  else
    read(id, agent, remote, show)
  end
end

--- Another executable is attached: it follows what is shown.
function M.on_attach()
  for _, transcript in pairs(shown) do
    read(transcript.id, transcript.agent, transcript.remote, function() end)
  end
end

---@param buf integer that Neovim has emptied (`:edit!`)
---@return boolean filled
function M.refill(buf)
  local transcript = shown[buf]
  if transcript then
    read(transcript.id, transcript.agent, transcript.remote, function() end)
  end
  return transcript ~= nil
end

--- Shows the conversation of a session, or a past one.
---@param row claude-code.SessionRow|claude-code.Conversation
function M.of_row(row)
  if row.id then
    M.open(row.id, nil, row.remote)
  else
    notify.info("this session has not said yet which conversation it is; try again in a moment")
  end
end

---@param update claude-code.TranscriptUpdate
---@return true
function M.on_changed(update)
  local transcript = vim.iter(vim.tbl_values(shown)):find(function(transcript)
    return transcript.view == update.view
  end)
  if transcript and api.nvim_buf_is_loaded(transcript.buf) then
    transcript:change(update)
  end
  return true
end

return M
