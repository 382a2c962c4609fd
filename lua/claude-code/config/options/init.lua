--- The options of setup(), said once: defaults, validation, the help and types.lua come from here.
--- After a change run `bun run docs`.
local M = {}

local FILES = { "server", "terminal", "claude", "changes", "diagnostics" }

---@param file string one of FILES
---@return claude-code.Option[]
local function load(file)
  return require("claude-code.config.options." .. file)
end

--- All options, in the order of the help. To load them takes a millisecond.
---@return claude-code.Option[]
function M.all()
  local options = {}
  for _, file in ipairs(FILES) do
    vim.list_extend(options, load(file))
  end
  return options
end

--- In which file the options are, by the first part of their keys: "diff" for "diff.layout".
---@return table<string, string>
function M.files()
  local files = {}
  for _, file in ipairs(FILES) do
    for _, option in ipairs(load(file)) do
      files[option.key:match("^[^.]+")] = file
    end
  end
  return files
end

--- The options whose keys begin with one of these parts, and perhaps others.
---@param parts any[] what the user gave; an unknown one has no option
---@return claude-code.Option[]
function M.of(parts)
  local options, loaded = {}, {}
  local files = require("claude-code.config.defaults").files
  for _, part in ipairs(parts) do
    local file = files[part]
    if file and not loaded[file] then
      loaded[file] = true
      vim.list_extend(options, load(file))
    end
  end
  return options
end

return M
