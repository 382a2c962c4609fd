--- Answers the stdio server and hooks with the diagnostics of files.
local api, uv = vim.api, vim.uv
local background = require("claude-code.editor.documents.background")
local channel = require("claude-code.server.channel")
local diagnostics = require("claude-code.editor.diagnostics")
local documents = require("claude-code.editor.documents")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")
local privacy = require("claude-code.editor.privacy")
local task = require("claude-code.lib.task")
local writes = require("claude-code.editor.diagnostics.writes")

---After loading files for this long, a call leaves the others to the next call.
local BATCH_MS = 2

local M = {}

local function describe(buf, name)
  return { path = name, real = path.real(name), items = diagnostics.items(buf) }
end

local function problems(files, settled)
  local folders = require("claude-code.lib.workspace").folders()
  return { folders = folders, files = files, settled = settled }
end

---@return table problems sorted by path
local function all()
  local files = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = path.of_buffer(buf)
    if name and next(vim.diagnostic.count(buf)) and not privacy.hides(buf) then
      files[#files + 1] = describe(buf, name)
    end
  end
  return problems(require("claude-code.lib.sort")(files, "path"), #pending.paths() == 0)
end

---@param candidates string[] in normal form
---@return integer? buf loaded buffer of the first path that has one
local function first_open(candidates)
  local buf = vim.iter(candidates):map(path.loaded_buffer):next()
  if buf then
    documents.wake(buf)
  end
  return buf
end

---Loads the first path that is a file of the workspace.
---@param candidates string[] in normal form
---@return integer? buf, string? failure
local function load(candidates)
  for _, name in ipairs(candidates) do
    if background.is_in_workspace(name) then
      local buf, failure = writes.load(name)
      if buf or failure then
        return buf, failure
      end
    end
  end
end

---May a client read the buffer? Not if it was only loaded for a question: Claude Code's permission rules may deny
---Claude the file.
local function is_readable(buf)
  local real = path.real(api.nvim_buf_get_name(buf))
  local is_known = vim.bo[buf].buflisted
    or next(vim.diagnostic.count(buf)) ~= nil
    or require("claude-code.editor.turn_check.sessions").has_edited(real)
  return is_known and not privacy.hides(buf)
end

function M.list(params)
  if not params.files then
    return all()
  end
  local files, settled, is_busy, unseen = {}, true, false, {}
  local stop, has_loaded = uv.hrtime() + BATCH_MS * 1e6, false
  for _, given in ipairs(params.files) do
    local buf, failure = first_open(given), nil
    if not buf and params.load then
      is_busy = is_busy or (has_loaded and uv.hrtime() > stop)
      if not is_busy then
        buf, failure = load(given)
        has_loaded = has_loaded or buf ~= nil
      end
    end
    if failure then
      return nil, failure
    elseif buf and not privacy.hides(buf) then
      files[#files + 1] = describe(buf, path.normal(api.nvim_buf_get_name(buf)))
      settled = settled and not pending.is_pending(buf)
      unseen[#unseen + 1] = documents.is_asleep(buf) and path.title(files[#files].path) or nil
    end
  end
  local list = problems(files, settled and not is_busy)
  list.is_busy = is_busy
  local text = "No language server has seen %s: the user has no file of that type open."
  list.unknown = #unseen > 0 and text:format(table.concat(unseen, ", ")) or nil
  return list
end

---Answers with a line, its diagnostics and `count` lines on each side.
function M.context(params)
  local buf = first_open(params.file)
  if not buf or not is_readable(buf) then
    return nil, { code = "not_open", message = "File not open: " .. params.named }
  end
  local count = api.nvim_buf_line_count(buf)
  if params.line > count then
    local text = "Line %d is not in %s, which has %d"
    return task.fail("no_line", text, params.line, params.named, count)
  end
  local first = math.max(1, params.line - params.count)
  return {
    items = vim.tbl_filter(function(item)
      return item.lnum == params.line - 1
    end, diagnostics.items(buf)),
    lines = api.nvim_buf_get_lines(buf, first - 1, params.line + params.count, false),
    start_line = first,
    filetype = vim.bo[buf].filetype,
  }
end

---How soon after loading a file linters and language servers begin to check it.
local BEGIN_MS = 25
---Pauses before busy servers are checked again, and before more files are loaded.
local BUSY_STEP_MS, LOAD_STEP_MS = 250, 2
---Extra time for a busy Neovim to answer after the timeout.
local SPARE_MS = 60000

---@class claude-code.WaitParams : claude-code.TaskParams
---@field busy_timeout_ms? integer limit of all, since value.is_busy restarts `timeout_ms`

local function is_settled(answer)
  return answer.value == nil or answer.value.settled
end

---@param limit number by uv.now()
---@return claude-code.Answer? answer nil if the client has disconnected
local function wait_for_answer(params, ask, limit)
  local deadline = uv.now() + params.timeout_ms
  local look_at = uv.now() + math.min(BEGIN_MS, params.timeout_ms)
  local changes = pending.changes()
  local answer ---@type claude-code.Answer?
  repeat
    -- Let Neovim run in any case: loading files in `ask` counts as a change.
    task.sleep(math.min(LOAD_STEP_MS, look_at - uv.now()))
    task.wait_for(function()
      return pending.changes() ~= changes
    end, look_at - uv.now())
    changes = pending.changes()
    answer = channel.is_open(params.channel) and ask() or nil
    local value, now = answer and answer.value or {}, uv.now()
    if value.is_busy then
      deadline = math.min(now + params.timeout_ms, limit)
    end
    local step = value.files and LOAD_STEP_MS or BUSY_STEP_MS
    look_at = math.min(deadline, value.is_busy and now + step or math.huge)
  until not answer or is_settled(answer) or look_at <= now
  return answer
end

---Answers a request of the executable once language servers have reported, or after the timeout.
---@param ask fun(): claude-code.Answer called again until value.settled
---@return { answer?: claude-code.Answer } without an answer, it follows in the notification "settled"
function M.when_settled(params, ask)
  local answer = ask()
  if is_settled(answer) then
    return { answer = answer }
  end
  local ms = math.max(params.timeout_ms, params.busy_timeout_ms or 0)
  local limit = uv.now() + ms
  return task.start(vim.tbl_extend("force", params, { timeout_ms = ms + SPARE_MS }), function()
    return wait_for_answer(params, ask, limit)
  end, require("claude-code.editor.documents.scope").resuming())
end

return M
