--- What the user has begun to write for Claude, in Neovim's own state folder: a file for each folder, number of a
--- session and Neovim. A draft of a Neovim that has ended is the next one's.
local uv = vim.uv

local FOLDER = vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "claude-code", "drafts")

--- Larger ones are not kept, and those of before not read.
local MOST_BYTES = 16 * 1024 * 1024

---@class claude-code.Draft
---@field path string
local Draft = {}
Draft.__index = Draft

local M = {}

--- Takes a draft over whose Neovim has ended.
---@param path string of this Neovim
---@param name string of this folder and session
local function adopt(path, name)
  local is_alive = require("claude-code.programs.process").is_alive
  for other in vim.fs.dir(FOLDER) do
    local pid = other:match("^" .. vim.pesc(name) .. "%-(%d+)%.md$")
    if
      pid and not is_alive(tonumber(pid) --[[@as integer]])
    then
      return uv.fs_rename(vim.fs.joinpath(FOLDER, other), path)
    end
  end
end

---@param n integer number of the session
---@return claude-code.Draft
function M.open(n)
  local here = require("claude-code.lib.workspace").tab_folder(0)
  local name = ("%s-%d"):format(vim.fn.sha256(here):sub(1, 16), n)
  local path = vim.fs.joinpath(FOLDER, ("%s-%d.md"):format(name, uv.os_getpid()))
  if not uv.fs_stat(path) then
    adopt(path, name)
  end
  return setmetatable({ path = path }, Draft)
end

---@return string[] lines none: there is no draft
function Draft:read()
  local text = require("claude-code.lib.regular_file").read(self.path, MOST_BYTES)
  return text and vim.split(text, "\n") or {}
end

---@param path string
---@param text string
---@return string? problem nothing is left of it then
local function write(path, text)
  local fd, problem = uv.fs_open(path, "w", tonumber("600", 8))
  if not fd then
    return problem
  end
  local count, failure = uv.fs_write(fd, text)
  uv.fs_close(fd)
  if count ~= #text then
    uv.fs_unlink(path)
    return failure or "the disk is full"
  end
end

--- Keeps it by a rename; forgets it where there is nothing in it.
---@param lines string[]
---@return string? problem what was kept before is still there
function Draft:keep(lines)
  local text = table.concat(lines, "\n")
  if not text:find("%S") then
    uv.fs_unlink(self.path)
    return nil
  elseif #text > MOST_BYTES then
    return "it is too long"
  end
  local made, problem = pcall(vim.fn.mkdir, FOLDER, "p", tonumber("700", 8))
  if not made then
    return problem
  end
  local new = self.path .. ".new"
  local failure = write(new, text)
  if failure then
    return failure
  end
  local ok, message = uv.fs_rename(new, self.path)
  return not ok and message or nil
end

return M
