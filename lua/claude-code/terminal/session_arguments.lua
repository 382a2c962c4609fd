--- What the arguments of the CLI (2.1.330) say of the session that it starts: which conversation, its
--- name, and its worktree.
local M = {}

--- An option that takes the next word as its value.
---@type table<string, "session"|"resume"|"name"|"worktree"|"continue"|"fork"|"background">
local OPTIONS = {
  ["--session-id"] = "session",
  ["--resume"] = "resume",
  ["-r"] = "resume",
  ["--continue"] = "continue",
  ["-c"] = "continue",
  ["--from-pr"] = "resume",
  ["--fork-session"] = "fork",
  ["--name"] = "name",
  ["-n"] = "name",
  ["--worktree"] = "worktree",
  ["-w"] = "worktree",
  ["--bg"] = "background",
  ["--background"] = "background",
}

local ID = "^%x+%-%x+%-%x+%-%x+%-%x+$"

---@param words string[]
---@return table<string, string> given the value of each option; "" without one
local function parse(words)
  local given = {}
  for index, word in ipairs(words) do
    local name, value = word:match("^(%-%-[^=]+)=(.*)$")
    local option = OPTIONS[name or word]
    if option then
      local next_word = words[index + 1] or "-"
      given[option] = value or vim.startswith(next_word, "-") and "" or next_word
    end
  end
  return given
end

---@class claude-code.SessionArguments
---@field id? string nil: the user chooses the conversation in the CLI, or the CLI does
---@field is_new boolean whether the id is one that we have made, for the CLI to take
---@field job? string of `attach`: that of a session which runs in the background
---@field is_background? boolean whether the CLI starts it in the background, and ends
---@field name? string
---@field worktree? string

---@param words string[]
---@return claude-code.SessionArguments
function M.of(words)
  if words[1] == "attach" then
    return { is_new = false, job = words[2] }
  end
  local given = parse(words)
  -- In the background the CLI chooses the id.
  local resumes = given.resume or given.continue or given.background
  local id = given.session or not given.fork and given.resume or nil
  local found = {
    id = id and id:match(ID),
    is_new = not given.session and not resumes,
    name = given.name ~= "" and given.name or nil,
    worktree = given.worktree ~= "" and given.worktree or nil,
  }
  found.is_background = given.background ~= nil
  if found.is_new then
    found.id = require("claude-code.lib.uuid")()
  end
  return found
end

return M
