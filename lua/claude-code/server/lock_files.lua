--- Removes our lock file when the executable, which writes it, no longer can.
local M = {}

--- More than any editor's lock file has.
local MOST_BYTES = 256 * 1024

---@param path string
---@return string? token that the lock file at this path carries
local function token_in(path)
  local text = require("claude-code.lib.regular_file").read(path, MOST_BYTES)
  local ok, content = pcall(vim.json.decode, text or "")
  return ok and type(content) == "table" and content.authToken or nil
end

--- Removes the lock files that carry one of our tokens, and no other: the port may be another editor's by
--- now. Looks through the whole folder, as the executable may have died before it could say which
--- file it wrote.
---@param known? string the file that the executable has named; it may lie in another folder
function M.remove(known)
  local endpoint = require("claude-code.server.endpoint")
  local tokens = { endpoint.token(), endpoint.next_token() }
  local folder = vim.fs.joinpath(require("claude-code.claude.config_dir").path(), "ide")
  local paths = { known }
  for name, kind in vim.fs.dir(folder) do
    if kind == "file" and vim.endswith(name, ".lock") then
      table.insert(paths, vim.fs.joinpath(folder, name))
    end
  end
  for _, path in ipairs(paths) do
    if vim.tbl_contains(tokens, token_in(path)) then
      os.remove(path)
    end
  end
end

return M
