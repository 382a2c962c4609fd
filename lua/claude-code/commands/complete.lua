--- Completion of arguments. `lead` is the word before the cursor, and `before` the text before that word.
local M = {}

--- Aliases for `--model` of the Claude CLI (2.1.330).
M.MODELS = {
  "opus",
  "sonnet",
  "haiku",
  "fable",
  "best",
  "opusplan",
  "opus[1m]",
  "sonnet[1m]",
  "fable[1m]",
}
local MODES = { "default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions" }

local function folders(lead)
  return vim.fn.getcompletion(lead, "dir")
end

--- Neovim's own completion of files (`-complete=file`) would also expand each % and # of a sentence.
function M.files(lead)
  return vim.fn.getcompletion(lead, "file")
end

---@return string[] escaped
function M.paths(lead)
  return vim.tbl_map(vim.fn.fnameescape, M.files(lead))
end

--- Arguments of the Claude CLI (2.1.330) for a terminal, with their values.
---@type table<string, true|string[]|fun(lead: string): string[]>
local ARGUMENTS = {
  ["--add-dir"] = folders,
  ["--append-system-prompt"] = true,
  ["--bg"] = true,
  ["--continue"] = true,
  ["--debug"] = true,
  ["--effort"] = { "low", "medium", "high", "xhigh", "max" },
  ["--fork-session"] = true,
  ["--mcp-config"] = M.files,
  ["--name"] = true,
  ["--model"] = M.MODELS,
  ["--permission-mode"] = MODES,
  ["--plugin-dir"] = folders,
  ["--resume"] = true,
  ["--settings"] = M.files,
  ["--verbose"] = true,
  ["--worktree"] = true,
}

---@return string[] sorted
function M.starting_with(list, lead)
  local found = vim.tbl_filter(function(item)
    return vim.startswith(item, lead)
  end, list)
  table.sort(found)
  return found
end

function M.cli_arguments(lead, before)
  local values = ARGUMENTS[before:match("(%S+)%s+$") or ""]
  if type(values) == "function" then
    return values(lead)
  elseif type(values) == "table" then
    return M.starting_with(values, lead)
  end
  return M.starting_with(vim.tbl_keys(ARGUMENTS), lead)
end

--- How long Neovim waits for the names of slash commands, in ms.
local MAX_WAIT_MS = 500

local function await(begin)
  local result
  begin(function(found)
    result = found or {}
  end)
  vim.wait(MAX_WAIT_MS, function()
    return result ~= nil
  end, 5)
  return result or {}
end

function M.slash_commands(lead, before)
  local items = before == ""
    and await(function(done)
      require("claude-code.terminal.slash").list("/" .. lead:gsub("^/", ""), done)
    end)
  return vim.tbl_map(function(item)
    return vim.startswith(lead, "/") and item.text or item.text:sub(2)
  end, items or {})
end

---@param session? string id
---@return string[] numbers of turns with the beginning of each prompt: "3:rename-it"; the last one first
function M.turns(session, lead)
  return await(function(done)
    local params = { session = session, lead = lead }
    require("claude-code.server.channel").request("review/turns", params, done)
  end)
end

function M.sessions(lead, before)
  if before ~= "" then
    return {}
  end
  local names = {}
  for _, row in ipairs(require("claude-code.terminal").own()) do
    table.insert(names, tostring(row.n))
    table.insert(names, row.name or row.worktree)
  end
  return M.starting_with(names, lead)
end

return M
