--- What each Claude session has edited since it was last allowed to stop, and what is wrong there.
--- The hooks of a Claude CLI report here; it is kept in Neovim, so that it outlives the executable.
local api, uv = vim.api, vim.uv
local memory = require("claude-code.editor.session.baseline")
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local settle = require("claude-code.editor.diagnostics.pending")

---Sessions that ended without a word (SIGKILL) are forgotten when there are more than these.
local MOST_SESSIONS = 50
---The problems that a summary quotes.
local QUOTED = 5

local M = {}

---@class claude-code.Session
---@field via string by which installation its hooks come; those of another one are ignored
---@field pid? integer the CLI's
---@field active number ms, when it was last heard of
---@field files table<string, claude-code.SessionFile> by real path
---@field loaded table<integer, true> buffers that were loaded for it
---@field blocks? { prompt: string, count: integer } how often this prompt was held already

---@class claude-code.SessionFile
---@field before? claude-code.ProblemCounts as the session found it; nil: not known
---@field edited? claude-code.ProblemCounts as the last edit found it; nil: not known

---@class claude-code.SessionParams said by every hook
---@field session string its id
---@field via string
---@field pid? integer the CLI's process

---@type table<string, claude-code.Session>
local sessions = {}
---@type fun()?
local cancel_settle

local function watch()
  if not cancel_settle then
    cancel_settle = settle.follow(function() end)
    memory.start()
  end
end

local function unwatch()
  if cancel_settle then
    cancel_settle()
    cancel_settle = nil
    memory.stop()
  end
end

---@param id string
local function forget(id)
  local session = sessions[id]
  sessions[id] = nil
  for buf in pairs(session and session.loaded or {}) do
    local used = vim.iter(pairs(sessions)):any(function(_, other)
      return other.loaded[buf]
    end)
    local hidden = api.nvim_buf_is_valid(buf)
      and not vim.bo[buf].buflisted
      and not vim.bo[buf].modified
      and #vim.fn.win_findbuf(buf) == 0
    if hidden and not used then
      pcall(api.nvim_buf_delete, buf, {})
    end
  end
  if next(sessions) == nil then
    unwatch()
  end
end

local function forget_oldest()
  local ids = vim.tbl_keys(sessions)
  if #ids > MOST_SESSIONS then
    table.sort(ids, function(a, b)
      return sessions[a].active < sessions[b].active
    end)
    forget(ids[1])
  end
end

---The session a hook speaks for; nil if another installation's hooks speak for it already.
---@param params claude-code.SessionParams
---@return claude-code.Session?
local function session_of(params)
  local session = sessions[params.session]
  if not session then
    session = { via = params.via, active = 0, files = {}, loaded = {} }
    sessions[params.session] = session
    forget_oldest()
  end
  if session.via ~= params.via then
    return nil
  end
  watch()
  session.active = uv.hrtime() / 1e6
  session.pid = params.pid or session.pid
  return session
end

---A session starts, goes on, or was cleared.
---@param params claude-code.SessionParams|{ source?: string }
---@return true
function M.start(params)
  local session = session_of(params)
  if session and (params.source == "startup" or params.source == "clear") then
    session.files = {}
  end
  return true
end

---@param params claude-code.SessionParams
---@return true
function M.finish(params)
  local session = sessions[params.session]
  if session and session.via == params.via then
    forget(params.session)
  end
  return true
end

---Language servers look only at what is open.
---@param session claude-code.Session
---@param real string
---@return integer? buf nil if the file cannot be shown
local function load(session, real)
  local buf = require("claude-code.editor.documents").load_hidden({ path = real })
  if buf then
    session.loaded[buf] = true
    settle.written(buf, "opened")
  end
  return buf
end

---@param session claude-code.Session
---@param real string
---@param created boolean
local function show_to_servers(session, real, created)
  local open = path.loaded_buffer(real)
  if created or not open then
    memory.written_unseen(real, created)
  end
  if open then
    require("claude-code.editor.documents.reload").now({ path = real })
    if not vim.bo[open].modified then
      require("claude-code.editor.diagnostics.servers").tell_saved(open)
    end
    return
  end
  load(session, real)
end

---Are the CLI's own messages about new diagnostics shown, since it is connected as to an IDE?
---@param pid? integer the CLI's
---@return boolean
local function is_connected(pid)
  return pid ~= nil
    and vim.iter(require("claude-code.server").clients):any(function(client)
      return client.pid == pid and client.name == "claude-code"
    end)
end

---@class claude-code.EditParams : claude-code.SessionParams
---@field path string absolute
---@field created? boolean the edit made the file

---@class claude-code.Edited
---@field tell boolean whether the model is to hear of new problems now
---@field deadline_ms integer how long to wait for language servers

---A file was edited: its buffer shows it, and language servers see it.
---@param params claude-code.EditParams
---@return claude-code.Edited?
function M.edited(params)
  local session = session_of(params)
  if not session then
    return nil
  end
  local real = path.real(params.path)
  show_to_servers(session, real, params.created == true)
  local file = session.files[real] or { before = memory.before(real) }
  file.edited = memory.before(real)
  session.files[real] = file
  local options = require("claude-code.config").get().diagnostics
  local tell = options.after_edit
  if tell == "auto" then
    tell = not is_connected(session.pid)
  end
  return { tell = tell, deadline_ms = options.after_edit_deadline_ms }
end

---@class claude-code.EditedFile what is wrong in a file that is there
---@field path string
---@field items claude-code.Diagnostic[]
---@field settled boolean
---@field file claude-code.SessionFile

---@param session claude-code.Session
---@return claude-code.EditedFile[] sorted by path, without private files and those that are gone
local function edited_files(session)
  local list = {}
  for real, file in pairs(session.files) do
    local known = uv.fs_stat(real) and not privacy.is_private(real)
    -- Its buffer may have been closed since: the problems are still there.
    local open = known and path.loaded_buffer(real)
    local buf = known and (open or load(session, real))
    if buf then
      list[#list + 1] = {
        path = real,
        items = require("claude-code.editor.diagnostics").items(buf),
        -- Whoever looks at a file that was just loaded has not looked yet.
        settled = open ~= nil and not settle.owes(buf),
        file = file,
      }
    end
  end
  table.sort(list, function(a, b)
    return a.path < b.path
  end)
  return list
end

---@class claude-code.NewProblems
---@field settled boolean
---@field known boolean whether the state before the edit was known; if not, `items` are all
---@field items claude-code.Diagnostic[]

---What is wrong in a file since its last edit.
---@param params claude-code.EditParams
---@return claude-code.NewProblems?
function M.news(params)
  local session, real = session_of(params), path.real(params.path)
  local file = session and session.files[real]
  local buf = file and not privacy.is_private(real) and path.loaded_buffer(real)
  if not file or not buf then
    return nil
  end
  local filter = require("claude-code.editor.session.filter")
  local items =
    filter.counted(real, require("claude-code.editor.diagnostics").items(buf), file.before)
  if file.edited then
    items = memory.beyond(items, file.edited)
  end
  return { settled = not settle.owes(buf), known = file.edited ~= nil, items = items }
end

---@class claude-code.Summary
---@field settled boolean
---@field block boolean whether problems may hold Claude at all
---@field deadline_ms integer
---@field retries integer how often one prompt may be held
---@field held integer how often this prompt was held already
---@field errors integer
---@field warnings integer
---@field others integer informations and hints, where they count
---@field worst { path: string, item: claude-code.Diagnostic }[]

---Ids of the sessions that are known, sorted.
---@return string[]
function M.sessions()
  local ids = vim.tbl_keys(sessions)
  table.sort(ids)
  return ids
end

---What is wrong in the files the session has edited. Nil if it has edited none.
---@param params claude-code.SessionParams|{ prompt?: string }
---@return claude-code.Summary?
function M.summary(params)
  local session = session_of(params)
  if not session or next(session.files) == nil then
    return nil
  end
  local options = require("claude-code.config").get().diagnostics
  local filter = require("claude-code.editor.session.filter")
  local settled, all = true, {}
  for _, edited in ipairs(edited_files(session)) do
    settled = settled and edited.settled
    for _, item in ipairs(filter.counted(edited.path, edited.items, edited.file.before)) do
      all[#all + 1] = { path = edited.path, item = item }
    end
  end
  local counts = filter.tally(all)
  local blocks = session.blocks
  return {
    settled = settled,
    block = options.block,
    deadline_ms = options.deadline_ms,
    retries = options.retries,
    held = blocks and blocks.prompt == params.prompt and blocks.count or 0,
    errors = counts[1],
    warnings = counts[2],
    others = counts[3] + counts[4],
    worst = filter.worst(all, QUOTED),
  }
end

---Claude was held back from stopping.
---@param params claude-code.SessionParams|{ prompt?: string }
---@return true
function M.held(params)
  local session = session_of(params)
  if session and params.prompt then
    local blocks = session.blocks
    local count = blocks and blocks.prompt == params.prompt and blocks.count or 0
    session.blocks = { prompt = params.prompt, count = count + 1 }
  end
  return true
end

---Claude was allowed to stop: what it edits from now on counts.
---@param params claude-code.SessionParams
---@return true
function M.released(params)
  local session = session_of(params)
  if session then
    session.files = {}
  end
  return true
end

---@class claude-code.SessionInfo
---@field id string
---@field pid? integer the CLI's
---@field files integer how many it has edited since it was last allowed to stop

---@return claude-code.SessionInfo[] the one last heard of first
function M.list()
  local ids = vim.tbl_keys(sessions)
  table.sort(ids, function(a, b)
    return sessions[a].active > sessions[b].active
  end)
  return vim.tbl_map(function(id)
    return { id = id, pid = sessions[id].pid, files = vim.tbl_count(sessions[id].files) }
  end, ids)
end

---The session that a stdio server belongs to: by its id, by its CLI (whose session id changes with
---/clear), or, for a server that knows neither, the one last heard of.
---@param id? string
---@param pid? integer
---@return claude-code.Session?
local function belonging(id, pid)
  local latest
  for known, session in pairs(sessions) do
    local fits = known == id or (pid ~= nil and session.pid == pid) or id == nil
    if fits and (not latest or session.active > latest.active) then
      latest = session
    end
  end
  return latest
end

---The diagnostics of the files that the session has edited.
---@param params { session?: string, pid?: integer }
---@return claude-code.Problems
function M.problems(params)
  local session = belonging(params.session, params.pid)
  local files = {}
  for _, edited in ipairs(session and edited_files(session) or {}) do
    files[#files + 1] = {
      path = edited.path,
      real = edited.path,
      items = edited.items,
      settled = edited.settled,
    }
  end
  return { folders = require("claude-code.workspace").folders(), files = files }
end

return M
