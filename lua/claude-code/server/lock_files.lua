--- The lock files by which the Claude CLI finds editors. The executable writes ours; this side
--- only reads them, and removes ours when the executable no longer can.
local M = {}

---@class claude-code.LockContent
---@field pid? integer
---@field workspaceFolders? string[]
---@field ideName? string
---@field authToken? string

--- The folder of lock files, as the Claude CLI has it.
---@return string
function M.folder()
  return vim.fs.joinpath(require("claude-code.claude.config_dir").path(), "ide")
end

---@param path string
---@return claude-code.LockContent?
function M.read(path)
  local file = io.open(path, "r")
  if not file then
    return nil
  end
  local text = file:read("*a")
  file:close()
  local ok, content = pcall(vim.json.decode, text or "", { luanil = { object = true } })
  return ok and type(content) == "table" and content or nil
end

---@return string[] paths of all lock files
local function all()
  local folder, paths = M.folder(), {}
  for name, kind in vim.fs.dir(folder) do
    if kind == "file" and vim.endswith(name, ".lock") then
      table.insert(paths, vim.fs.joinpath(folder, name))
    end
  end
  return paths
end

--- Removes the lock files that carry our token, and no other: the port may be somebody else's
--- by now. The whole folder is looked through, as the executable may have died before it could
--- tell which file it wrote.
---@param token string
---@param known? string the file the executable has told of; it may lie in another folder
function M.remove(token, known)
  local paths = all()
  if known then
    table.insert(paths, known)
  end
  for _, path in ipairs(paths) do
    local content = M.read(path)
    if content and content.authToken == token then
      os.remove(path)
    end
  end
end

---@param a string
---@param b string
---@return boolean
local function contains(a, b)
  local prefix = a:match("[/\\]$") and a or a .. "/"
  return a == b or vim.startswith(b, prefix)
end

---@param ours string[]
---@param theirs any
---@return string? folder of theirs that overlaps one of ours
local function overlap(ours, theirs)
  for _, folder in ipairs(type(theirs) == "table" and theirs or {}) do
    for _, own in ipairs(ours) do
      if type(folder) == "string" and (contains(own, folder) or contains(folder, own)) then
        return folder
      end
    end
  end
end

---@class claude-code.Rival
---@field pid integer
---@field name string its ideName
---@field folder string the overlapping folder

--- Other running editors that publish an overlapping workspace: the Claude CLI, started outside
--- of an editor in such a folder, connects to none of them.
---@param folders string[]
---@return claude-code.Rival[]
function M.rivals(folders)
  local rivals, me = {}, vim.uv.os_getpid()
  for _, path in ipairs(all()) do
    local content = M.read(path) or {}
    local pid = content.pid
    local folder = overlap(folders, content.workspaceFolders)
    if folder and type(pid) == "number" and pid ~= me and vim.uv.kill(pid, 0) == 0 then
      table.insert(rivals, { pid = pid, name = tostring(content.ideName), folder = folder })
    end
  end
  return rivals
end

return M
