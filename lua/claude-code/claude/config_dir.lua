--- Where Claude Code keeps its settings, and looks for lock files.
local M = {}

local absolute = {} ---@type table<string, string> by what the variable said

--- $CLAUDE_CONFIG_DIR. A relative one counts from the folder that Neovim was in when it was first
--- asked for, since the executable runs elsewhere and the person moves on.
---@return string? path nil if it is not set
function M.configured()
  local said = vim.env.CLAUDE_CONFIG_DIR
  if not said or said == "" then
    return nil
  end
  absolute[said] = absolute[said]
    or vim.fs.normalize(vim.fn.fnamemodify(said, ":p"), { expand_env = false })
  return absolute[said]
end

---@return string path
function M.path()
  return M.configured() or vim.fs.joinpath(vim.uv.os_homedir(), ".claude")
end

return M
