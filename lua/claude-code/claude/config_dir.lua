--- Where Claude Code keeps its settings, and looks for lock files.
local M = {}

local absolute = {} ---@type table<string, string> by the value of the variable

--- $CLAUDE_CONFIG_DIR. A relative one counts from Neovim's folder at the first call, since the
--- executable runs elsewhere and the user changes folders.
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
