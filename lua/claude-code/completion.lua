--- Completion of command lines.
local M = {}

local MODES = { "default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions" }

--- Arguments of the Claude CLI (2.1.330) that make sense in a terminal, and what may follow one.
---@type table<string, true|string[]|fun(lead: string): string[]>
local ARGUMENTS = {
  ["--add-dir"] = function(lead)
    return vim.fn.getcompletion(lead, "dir")
  end,
  ["--append-system-prompt"] = true,
  ["--bg"] = true,
  ["--continue"] = true,
  ["--debug"] = true,
  ["--effort"] = { "low", "medium", "high", "xhigh", "max" },
  ["--fork-session"] = true,
  ["--mcp-config"] = function(lead)
    return vim.fn.getcompletion(lead, "file")
  end,
  ["--name"] = true,
  ["--model"] = require("claude-code.terminal.model").NAMES,
  ["--permission-mode"] = MODES,
  ["--plugin-dir"] = function(lead)
    return vim.fn.getcompletion(lead, "dir")
  end,
  ["--resume"] = true,
  ["--settings"] = function(lead)
    return vim.fn.getcompletion(lead, "file")
  end,
  ["--verbose"] = true,
  ["--worktree"] = true,
}

---@param list string[]
---@param lead string
---@return string[]
local function starting_with(list, lead)
  local found = vim.tbl_filter(function(item)
    return vim.startswith(item, lead)
  end, list)
  table.sort(found)
  return found
end

---@param lead string the word before the cursor
---@param line string the whole command line
---@param position integer of the cursor, in bytes from 0
---@return string[]
function M.cli_arguments(lead, line, position)
  local before = line:sub(1, position - #lead)
  local values = ARGUMENTS[before:match("(%S+)%s+$") or ""]
  if type(values) == "function" then
    return values(lead)
  elseif type(values) == "table" then
    return starting_with(values, lead)
  end
  return starting_with(vim.tbl_keys(ARGUMENTS), lead)
end

---The numbers and names of this Neovim's sessions; files after one.
---@param lead string
---@param line string the whole command line
---@return string[]
function M.sessions(lead, line)
  if not line:match("^%S*%s+" .. vim.pesc(lead) .. "$") then
    return vim.fn.getcompletion(lead, "file")
  end
  local names = {}
  for _, row in ipairs(require("claude-code.terminal.select").own()) do
    table.insert(names, tostring(row.n))
    table.insert(names, row.name or row.worktree)
  end
  return starting_with(names, lead)
end

---The scopes of a review, and files.
---@param lead string
---@return string[]
function M.review_arguments(lead)
  local scopes = starting_with({ "turn", "session", "all" }, lead)
  return vim.list_extend(scopes, vim.fn.getcompletion(lead, "file"))
end

return M
