--- What a pane that is kept carries along, for the Neovim that adopts it. It comes from tmux, where any
--- program of the user's can write it.
local process = require("claude-code.programs.process")

local M = {}

--- A tag of another layout says nothing to us.
local VERSION = 1
local MOST_BYTES = 8192
--- The number of a session: the next one's has to be another one.
local MOST_NUMBER = 2 ^ 31
local UUID = "^" .. ("%x"):rep(8) .. ("%-" .. ("%x"):rep(4)):rep(3) .. "%-" .. ("%x"):rep(12) .. "$"

---@class claude-code.ProcessTag one process, and no other that has its id later
---@field pid integer
---@field start string as claude-code.programs.process.start() says it

---@class claude-code.PaneTag
---@field version integer
---@field domain string of the process ids
---@field neovim claude-code.ProcessTag that the pane belongs to
---@field program claude-code.ProcessTag that runs in the pane
---@field port? integer on which the CLI finds its Neovim; nil: it has never found one
---@field token? string
---@field ended? integer time in seconds (os.time) when its Neovim ended; nil: that said nothing
---@field cwd string absolute
---@field n? integer number of its session
---@field id? string
---@field name? string
---@field worktree? string

---@param pid? integer Neovim's own if left out
---@return claude-code.ProcessTag
function M.of_process(pid)
  pid = pid or vim.uv.os_getpid()
  return { pid = pid, start = process.start(pid) or "" }
end

---@param tag table of claude-code.PaneTag
---@return string text of letters, digits, "+", "/" and "="
function M.encode(tag)
  local full = vim.tbl_extend("force", tag, { version = VERSION, domain = process.domain() })
  return vim.base64.encode(vim.json.encode(full))
end

---@param value any
---@param kind type
local function is_or_nil(value, kind)
  return value == nil or type(value) == kind
end

---@param value any
local function is_process(value)
  return type(value) == "table" and type(value.pid) == "number" and type(value.start) == "string"
end

---@param value any
---@param most integer
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

---@param tag any
local function is_valid(tag)
  return type(tag) == "table"
    and tag.version == VERSION
    and tag.domain == process.domain()
    and is_process(tag.neovim)
    and is_process(tag.program)
    and is_whole_or_nil(tag.port, 65535)
    and is_or_nil(tag.token, "string")
    and (tag.token == nil or tag.token:match(UUID) ~= nil)
    and is_whole_or_nil(tag.ended, 2 ^ 53)
    and is_folder(tag.cwd)
    and is_whole_or_nil(tag.n, MOST_NUMBER)
    and is_or_nil(tag.id, "string")
    and is_or_nil(tag.name, "string")
    and is_or_nil(tag.worktree, "string")
end

---@param text string
---@return claude-code.PaneTag? nil: not a tag, of another version, or of another machine's processes
function M.decode(text)
  if #text > MOST_BYTES or not text:match("^[%w+/]+=*$") then
    return nil
  end
  local decoded, json = pcall(vim.base64.decode, text)
  local parsed, tag = pcall(vim.json.decode, decoded and json or "", { luanil = { object = true } })
  return parsed and is_valid(tag) and tag or nil
end

---@param process_tag claude-code.ProcessTag
---@return boolean does it run, and is it still the same?
function M.runs(process_tag)
  return process.start(process_tag.pid) == process_tag.start
end

return M
