--- The keys of a conversation's buffer.
local api = vim.api
local named = require("claude-code.editor.open_file.named")
local notify = require("claude-code.messages.notify")
local requests = require("claude-code.server.requests")
local sessions = require("claude-code.sessions")

local M = {}

---@param transcript claude-code.Transcript
---@param step 1|-1
local function go_to_prompt(transcript, step)
  local row = api.nvim_win_get_cursor(0)[1]
  local found = transcript:prompt_from(row, step, vim.v.count1)
  if found then
    vim.cmd.normal({ "m'", bang = true })
    api.nvim_win_set_cursor(0, { found, 0 })
  end
end

--- Back to the prompt of the session.
---@param transcript claude-code.Transcript
local function type_to_claude(transcript)
  local row = sessions.get({ id = transcript.id })
  if row and row.n then
    require("claude-code.terminal.running").show(row.n)
  else
    notify.info("this conversation does not run here; :Claude sessions resumes it")
  end
end

---@param transcript claude-code.Transcript
---@param call string
local function show_whole(transcript, call)
  requests.ask("transcript/whole", { view = transcript.view, call = call }, function(text)
    local buf = api.nvim_create_buf(false, true)
    pcall(api.nvim_buf_set_name, buf, "claude-code://result/" .. call)
    api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(text or "", "\n"))
    vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "wipe", false
    vim.cmd.sbuffer(buf)
  end)
end

--- Goes to the place; without one to what the line's call is about; else opens its fold.
---@param transcript claude-code.Transcript
---@param show_agent fun(agent: string)
---@param path? string
---@param line? integer 1-based
local function open_at(transcript, show_agent, path, line)
  local mark = transcript:mark_at(api.nvim_win_get_cursor(0)[1]) or {}
  if not path and mark.cut and transcript.view then
    return show_whole(transcript, mark.cut)
  elseif not path and mark.agent then
    return show_agent(mark.agent)
  elseif not path then
    path, line = mark.path, mark.line
  end
  if not path and transcript.folds[api.nvim_win_get_cursor(0)[1]] ~= "0" then
    return vim.cmd.normal({ "za", bang = true })
  elseif not path then
    return notify.info("this line names no file")
  end
  local _, problem = require("claude-code.editor.open_file").at(path, line)
  if problem then
    notify.error(problem)
  end
end

--- The place that the line names, else the one that its call is about, in a window beside; else its fold. Of a
--- remote's names the executable knows which files of here they are.
---@param transcript claude-code.Transcript
---@param show_agent fun(agent: string)
local function open(transcript, show_agent)
  local row = sessions.get({ id = transcript.id }) or {}
  local name = named.under_cursor()
  if name:match("^https?://") then
    return vim.ui.open(name)
  elseif not transcript.remote then
    return open_at(transcript, show_agent, named.file(name, row.cwd))
  end
  local bare, line = named.split(name)
  local params = { view = transcript.view or -1, name = bare, folder = row.cwd }
  requests.ask("transcript/place", params, function(path)
    open_at(transcript, show_agent, path, path and line)
  end)
end

---@param transcript claude-code.Transcript
---@param show_agent fun(agent: string) shows the conversation of a subagent
function M.map(transcript, show_agent)
  local function map(key, desc, run, modes)
    vim.keymap.set(modes or "n", key, function()
      run(transcript, show_agent)
    end, { buffer = transcript.buf, desc = desc, nowait = true })
  end
  map("]]", "Next prompt", function()
    go_to_prompt(transcript, 1)
  end, { "n", "x", "o" })
  map("[[", "Previous prompt", function()
    go_to_prompt(transcript, -1)
  end, { "n", "x", "o" })
  for _, key in ipairs({ "<CR>", "gf", "gF" }) do
    map(key, "Open the place in a window beside", open)
  end
  for _, key in ipairs({ "i", "a", "I", "A" }) do
    map(key, "Type to Claude", type_to_claude)
  end
end

return M
