--- Claude's terminals in a session file (:mksession): the file names their conversations, and a buffer
--- of that name takes each one's place until :Claude resumes it.
local api = vim.api
local buffer_name = require("claude-code.terminal.buffer_name")
local sessions = require("claude-code.sessions")

local M = {}

local PATTERN = "^claude%-code://terminal/(%x+%-%x+%-%x+%-%x+%-%x+)$"

---@param name string of a buffer
---@return string? id
local function conversation(name)
  return name:match(PATTERN)
end

---@param key "n"|"id"
local function name_terminals(key)
  for _, row in ipairs(sessions.list()) do
    if row.n and row.id and row.buf and api.nvim_buf_is_valid(row.buf) then
      buffer_name.set(row.buf, row[key])
    end
  end
end

--- Which file v:this_session is, and what was written to it.
---@return string "" if there is none
function M.signature()
  local name = vim.v.this_session
  local stat = name ~= "" and vim.uv.fs_stat(name)
  return stat and ("%s:%d:%d:%d"):format(name, stat.mtime.sec, stat.mtime.nsec, stat.size) or ""
end

--- Writes a session file, with the conversations as the names of the terminals.
---@param name string
function M.write(name)
  name_terminals("id")
  local ok, message = pcall(vim.cmd.mksession, {
    args = { vim.fn.fnameescape(name) },
    bang = true,
    mods = { noautocmd = true },
  })
  name_terminals("n")
  if not ok then
    require("claude-code.messages.log").error("writing the session again failed: %s", message)
  end
end

--- A session file that the user or a plugin writes is written again, with the conversations.
function M.follow()
  local known = M.signature()
  api.nvim_create_autocmd("SessionWritePost", {
    group = api.nvim_create_augroup("claude-code.terminal.session_file", { clear = true }),
    callback = function()
      -- :mkview has this event as well.
      local now = M.signature()
      if now ~= "" and now ~= known and vim.v.exiting == vim.NIL then
        M.write(vim.v.this_session)
        known = M.signature()
      end
    end,
  })
end

--- The buffer that is left in the windows of a session that ends with Neovim: session plugins write
--- their file later.
---@param buf integer empty
---@param terminal integer buffer of the session
function M.leave(buf, terminal)
  local row = vim.iter(sessions.list()):find(function(row)
    return row.buf == terminal
  end)
  if row and row.id then
    -- Of a buffer without a file only an empty one would be in the session file.
    vim.bo[buf].buftype, vim.bo[buf].swapfile = "", false
    buffer_name.set(buf, row.id)
  end
end

--- Does the CLI have this conversation? It keeps none without a prompt.
---@param id string
---@return boolean
local function is_kept(id)
  local folder = vim.fs.joinpath(require("claude-code.claude.config_dir").path(), "projects")
  return vim.iter(vim.fs.dir(folder)):any(function(project)
    return vim.uv.fs_stat(vim.fs.joinpath(folder, project, id .. ".jsonl")) ~= nil
  end)
end

---@param windows integer[]
---@return integer? buf that stands for a conversation
---@return string? id
local function find(windows)
  for _, win in ipairs(windows) do
    local buf = api.nvim_win_get_buf(win)
    local id = conversation(api.nvim_buf_get_name(buf))
    if id then
      return buf, id
    end
  end
end

---@return boolean does this tab page show one that is to be resumed?
function M.is_here()
  return find(api.nvim_tabpage_list_wins(0)) ~= nil
end

---@param id? string
---@return claude-code.SessionRow? row of the session that has this conversation now
local function running(id)
  return vim.iter(sessions.list()):find(function(row)
    return id ~= nil and row.id == id
  end)
end

--- Where a session file is read in the Neovim that wrote it, the terminal itself takes its place.
---@param buf integer that stands for a conversation
function M.show_running(buf)
  local row = running(conversation(api.nvim_buf_get_name(buf)))
  if row and row.buf then
    vim.schedule(function()
      for _, win in ipairs(vim.fn.win_findbuf(buf)) do
        api.nvim_win_set_buf(win, row.buf)
      end
    end)
  end
end

--- The conversation of this tab page, or else of another one.
---@return string[] arguments for the CLI; none if there is nothing to resume
---@return integer? buf that stands for it
function M.conversation()
  local buf, id = find(vim.list_extend(api.nvim_tabpage_list_wins(0), api.nvim_list_wins()))
  local row = running(id)
  if row and row.job and not row.n then
    return { "attach", row.job }, buf
  end
  return id and not row and is_kept(id) and { "--resume", id } or {}, buf
end

return M
