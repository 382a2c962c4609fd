--- The plugin's own files as they are on the disk now. Read from there and not by require(): a
--- plugin manager may just have put a newer version in place of the one that is loaded.
local M = {}

--- The plugin's folder.
---@return string
function M.root()
  local this = debug.getinfo(1, "S").source:sub(2)
  local root = vim.fn.fnamemodify(this, ":p:h:h:h:h")
  -- Not by vim.fs.normalize(): setup() comes here, and vim.fs takes half a millisecond to load.
  return vim.fn.has("win32") == 1 and (root:gsub("\\", "/")) or root
end

---@return table?
local function read(name)
  local chunk = loadfile(vim.fs.joinpath(M.root(), "lua", "claude-code", name .. ".lua"))
  return chunk and chunk()
end

---@return claude-code.Contract
function M.contract()
  return read("install/contract") or require("claude-code.install.contract")
end

--- Nil if the plugin was installed together with its executable: release archives hold no manifest.
---@return claude-code.Manifest?
function M.manifest()
  return read("install/manifest")
end

--- The commands that build an executable from these files.
---@return string
function M.build_command()
  return ("`cd %s && bun install && bun run build`"):format(vim.fn.shellescape(M.root()))
end

return M
