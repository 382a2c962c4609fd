--- Which of our hooks stand in the settings files of a Claude CLI, and whether it runs hooks at all.
local M = {}

--- As the executable reads of a settings file.
local MOST_BYTES = 1024 * 1024
local BOM = "^\239\187\191"

---@return table? content an empty table for what is no JSON object; nil if the file cannot be read
local function read(path)
  local text = require("claude-code.lib.regular_file").read(path, MOST_BYTES)
  if not text then
    return not vim.uv.fs_stat(path) and {} or nil
  end
  local nothing = { luanil = { object = true, array = true } }
  local ok, content = pcall(vim.json.decode, (text:gsub(BOM, "")), nothing)
  return ok and type(content) == "table" and content or {}
end

--- The CLI reads the folder's own settings and those of its repository's top, and no others on the
--- way up (measured with Claude Code 2.1.330).
---@return string[][] paths of each of the two with the user's, the strongest first
local function places(folder)
  local user = vim.fs.joinpath(require("claude-code.claude.config_dir").path(), "settings.json")
  return vim.tbl_map(function(top)
    local project = vim.fs.joinpath(top, ".claude")
    local own = vim.fs.joinpath(project, "settings.local.json")
    return { own, vim.fs.joinpath(project, "settings.json"), user }
  end, { folder, vim.fs.root(folder, ".git") })
end

---@param groups any of one event in a settings file
---@param event string of `claude-code-nvim hook`
---@return boolean is one of their commands our hook?
local function has_command(groups, event)
  local pattern = "claude%-code%-nvim.* hook " .. vim.pesc(event)
  for _, group in ipairs(type(groups) == "table" and groups or {}) do
    local hooks = type(group) == "table" and group.hooks
    for _, hook in ipairs(type(hooks) == "table" and hooks or {}) do
      local command = type(hook) == "table" and hook.command
      if type(command) == "string" and command:find(pattern) then
        return true
      end
    end
  end
  return false
end

--- Only a command that the CLI runs at this event counts: a rule, a matcher or a name may hold the same words.
---@param folder string
---@param name string Claude Code's name of the event: "Stop"
---@param event string that of `claude-code-nvim hook`: "stop"
---@return boolean is the hook in a settings file that the CLI will read there?
function M.is_installed(folder, name, event)
  return vim.iter(places(folder)):flatten():any(function(path)
    local hooks = (read(path) or {}).hooks
    return type(hooks) == "table" and has_command(hooks[name], event)
  end)
end

--- Does a CLI that starts in this folder run hooks? Without them there is neither a review nor a gate.
---@param folder string
---@return string? reason why not, with the file and its setting; nil if it does
function M.off(folder)
  for _, paths in ipairs(places(folder)) do
    for _, path in ipairs(paths) do
      local content = read(path)
      if not content then
        return path .. " cannot be read, and may switch off Claude's hooks"
      elseif content.disableAllHooks == true then
        return "disableAllHooks is true in " .. path
      elseif content.disableAllHooks == false then
        break
      end
    end
  end
end

local reasons = {} ---@type table<string, string|false> by the folder of a CLI that was started

--- The same, which the status line then shows.
---@param folder string
---@return string? reason
function M.look(folder)
  reasons[folder] = false
  for other in pairs(reasons) do
    reasons[other] = M.off(other) or false
  end
  return reasons[folder] or nil
end

---@return boolean did the last look find hooks switched off anywhere?
function M.is_off()
  return vim.iter(pairs(reasons)):any(function(_, reason)
    return reason ~= false
  end)
end

return M
