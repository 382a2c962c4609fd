--- What a pane that is kept carries along, for the Neovim that adopts it. It comes from tmux, where any
--- program of the user's can write it.
local process = require("claude-code.programs.process")

local M = {}

--- Of another layout a mark says nothing to us.
local VERSION = 1
local MOST_BYTES = 8192
--- Of a session. The next one's number has to be another one.
local MOST_NUMBER = 2 ^ 31
local UUID = "^" .. ("%x"):rep(8) .. ("%-" .. ("%x"):rep(4)):rep(3) .. "%-" .. ("%x"):rep(12) .. "$"

---@class claude-code.ProcessMark one process, and no other that has its id later
---@field pid integer
---@field start string as claude-code.programs.process.start() says it

---@class claude-code.PaneMark
---@field version integer
---@field domain string of the process ids
---@field neovim claude-code.ProcessMark that the pane belongs to
---@field program claude-code.ProcessMark that runs in the pane
---@field port? integer on which the CLI finds its Neovim; nil: it has never found one
---@field token? string
---@field ended? integer time in seconds (os.time) when its Neovim ended; nil: that said nothing
---@field cwd string absolute
---@field n? integer number of its session
---@field id? string
---@field name? string
---@field worktree? string

---@return claude-code.ProcessMark
function M.own()
  local pid = vim.uv.os_getpid()
  return { pid = pid, start = process.start(pid) or "" }
end

---@param mark table of claude-code.PaneMark
---@return string text of letters, digits, "+", "/" and "="
function M.encode(mark)
  local full = vim.tbl_extend("force", mark, { version = VERSION, domain = process.domain() })
  return vim.base64.encode(vim.json.encode(full))
end

---@param value any
---@param kind type
---@return boolean
local function is_or_nil(value, kind)
  return value == nil or type(value) == kind
end

---@param value any
---@return boolean
local function is_process(value)
  return type(value) == "table" and type(value.pid) == "number" and type(value.start) == "string"
end

---@param value any
---@param most integer
---@return boolean
local function is_whole_or_nil(value, most)
  return value == nil or type(value) == "number" and value >= 1 and value <= most and value % 1 == 0
end

---@param value any
---@return boolean is it a path that leads nowhere else than its text says?
local function is_folder(value)
  return type(value) == "string"
    and vim.startswith(value, "/")
    and not (value .. "/"):find("/../", 1, true)
end

---@param mark any
---@return boolean
local function is_valid(mark)
  return type(mark) == "table"
    and mark.version == VERSION
    and mark.domain == process.domain()
    and is_process(mark.neovim)
    and is_process(mark.program)
    and is_whole_or_nil(mark.port, 65535)
    and is_or_nil(mark.token, "string")
    and (mark.token == nil or mark.token:match(UUID) ~= nil)
    and is_whole_or_nil(mark.ended, 2 ^ 53)
    and is_folder(mark.cwd)
    and is_whole_or_nil(mark.n, MOST_NUMBER)
    and is_or_nil(mark.id, "string")
    and is_or_nil(mark.name, "string")
    and is_or_nil(mark.worktree, "string")
end

---@param text string
---@return claude-code.PaneMark? nil: not a mark, of another version, or of another machine's processes
function M.decode(text)
  if #text > MOST_BYTES or not text:match("^[%w+/]+=*$") then
    return nil
  end
  local decoded, json = pcall(vim.base64.decode, text)
  local parsed, mark =
    pcall(vim.json.decode, decoded and json or "", { luanil = { object = true } })
  return parsed and is_valid(mark) and mark or nil
end

---@param marked claude-code.ProcessMark
---@return boolean does it run, and is it still the same?
function M.runs(marked)
  return process.start(marked.pid) == marked.start
end

return M
