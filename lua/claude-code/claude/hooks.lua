--- Which of our hooks stand in the settings files of a Claude CLI, and whether it runs hooks at all.
local M = {}

--- As the executable reads of a settings file.
local MAX_BYTES = 1024 * 1024
local BOM = "^\239\187\191"

---@return table? content an empty table for what is no JSON object; nil if the file cannot be read
local function read(path)
  local text = require("claude-code.lib.regular_file").read(path, MAX_BYTES)
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
  local user = vim.fs.joinpath(require("claude-code.claude.cli").settings_folder(), "settings.json")
  return vim.tbl_map(function(top)
    local project = vim.fs.joinpath(top, ".claude")
    local own = vim.fs.joinpath(project, "settings.local.json")
    return { own, vim.fs.joinpath(project, "settings.json"), user }
  end, { folder, vim.fs.root(folder, ".git") })
end

---A group without a matcher, which runs for every tool, has those of one tool, too.
---@param groups any of one event in a settings file
---@param wanted claude-code.HookGroup
local function has_group(groups, wanted)
  return vim.iter(type(groups) == "table" and groups or {}):any(function(group)
    local is_its = type(group) == "table"
      and (group.matcher == nil or group.matcher == wanted.matcher)
    local hooks = is_its and group.hooks
    return vim.iter(type(hooks) == "table" and hooks or {}):any(function(hook)
      return vim.deep_equal(hook, wanted.hooks[1])
    end)
  end)
end

---@class claude-code.HookGroup as in Claude Code's settings
---@field matcher? string
---@field hooks table[]

--- Are all of these hooks set up in one settings file that the CLI will read there, letter by letter, and is their
--- program there? What only looks like one of them, or one alone, would switch the others off without a word.
---@param folder string
---@param wanted table<string, claude-code.HookGroup[]> by Claude Code's names of the events
function M.are_installed(folder, wanted)
  if not vim.uv.fs_stat(require("claude-code.install.store").stable()) then
    return false
  end
  return vim.iter(places(folder)):flatten():any(function(path)
    local hooks = (read(path) or {}).hooks
    return type(hooks) == "table"
      and vim.iter(pairs(wanted)):all(function(event, groups)
        return vim.iter(groups):all(function(group)
          return has_group(hooks[event], group)
        end)
      end)
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

--- How long an answer holds: a status line asks at each redraw. In ms.
local HOLDS_MS = 1000

local last = { at = math.huge } ---@type { at: number, folder?: string, reason?: string }

--- The same, which the status line then shows.
---@param folder string
---@return string? reason
function M.look(folder)
  last = { at = vim.uv.now(), folder = folder, reason = M.off(folder) }
  return last.reason
end

--- A CLI that runs follows its settings (measured with Claude Code 2.1.330).
---@return boolean are hooks off where it was last looked?
function M.is_off()
  if vim.uv.now() > last.at + HOLDS_MS then
    M.look(last.folder)
  end
  return last.reason ~= nil
end

return M
