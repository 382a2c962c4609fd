--- Files that language servers have open: as the user has them, else loaded without a trace and released after a
--- while; and what was written outside of Neovim, by Claude, its shell or git, before a server is asked. Neovim itself
--- watches no files on Linux.
local api = vim.api
local background = require("claude-code.editor.documents.background")
local disk = require("claude-code.editor.documents.disk")
local documents = require("claude-code.editor.documents")
local lsp = require("claude-code.lib.lsp")
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local reload = require("claude-code.editor.documents.reload")
local request = require("claude-code.editor.language.request")
local task = require("claude-code.lib.task")
local writes = require("claude-code.editor.diagnostics.writes")

local INITIALIZE_MS = 10000

---FileChangeType (LSP 3.17).
local TYPES = { created = 1, changed = 2, deleted = 3 }

local M = {
  ---A configuration may look for the project's root first, with a program even, and then start its server.
  ATTACH_MS = 3000,
}

local function no_server(buf)
  local filetype = vim.bo[buf].filetype
  local name = path.title(api.nvim_buf_get_name(buf))
  local text = "No language server is attached in Neovim to %s (file type %s). Use Grep"
    .. (documents.is_asleep(buf) and ", or ask the user to open a file of this type." or ".")
  filetype = filetype == "" and "unknown" or filetype
  return { code = "no_server", message = text:format(name, filetype) }
end

---Waits until the buffer's servers are ready for requests, in a task.
---@param is_new boolean it was loaded just now
---@return claude-code.Failure? if none is
local function wait_for_servers(buf, is_new)
  task.wait_for(function()
    return #lsp.of_buffer(buf) > 0
  end, is_new and not documents.is_asleep(buf) and M.ATTACH_MS or 0)
  task.wait_for(function()
    return vim.iter(lsp.of_buffer(buf)):all(function(client)
      return client.initialized or client:is_stopped()
    end)
  end, INITIALIZE_MS)
  local attached = lsp.of_buffer(buf)
  for _, client in ipairs(attached) do
    if client.initialized then
      return nil
    end
  end
  if #attached == 0 then
    return no_server(buf)
  end
  local text = "Not ready: %s is starting. Ask again in 10 s."
  return { code = "not_ready", message = text:format(attached[1].name) }
end

local function cannot_load(name)
  local text = not vim.uv.fs_stat(name) and "%s does not exist."
    or not background.is_in_workspace(name) and "%s is not in the workspace. Use Grep or Read."
    or "Neovim cannot load %s. Use Grep."
  return { code = "not_found", message = text:format(path.title(name)) }
end

---Loads the first of these paths that is a file of the workspace, unless it is loaded.
---@param candidates string[] in normal form
---@return integer? buf
---@return claude-code.Failure|string|nil
---@return boolean is_new it was loaded just now
local function load(candidates)
  for _, name in ipairs(candidates) do
    if privacy.is_private(name) then
      return nil, { code = "private", message = privacy.refusal(name) }, false
    end
    local buf, failure = path.loaded_buffer(name), nil ---@type integer?, string?
    local is_new = not buf or documents.wake(buf)
    if not buf and background.is_in_workspace(name) then
      buf, failure = writes.load(name)
    end
    if buf then
      background.keep(buf)
    end
    if buf or failure then
      return buf, failure, is_new
    end
  end
  return nil, cannot_load(candidates[1]), false
end

---As `load`, in a task: with a language server that is ready.
---@param candidates string[] in normal form; none: the file is private
---@param named? string as Claude has named the file
---@return integer? buf
---@return claude-code.Failure?
function M.file(candidates, named)
  if #candidates == 0 then
    return task.fail("private", "%s", privacy.refusal(named --[[@as string]]))
  end
  local buf, failure, is_new = load(candidates)
  if buf then
    failure = wait_for_servers(buf, is_new)
  end
  return not failure and buf or nil, failure
end

---@class claude-code.ChangedFile
---@field path string
---@field change "created"|"changed"|"deleted"

---The files as they were when they were last compared, by buffer.
local versions = {} ---@type table<integer, string>

---Notifies every language server of what was written.
---@param changes claude-code.ChangedFile[]
function M.notify(changes)
  local written = {}
  for _, file in ipairs(changes) do
    if file.change == "deleted" then
      background.on_deleted(path.normal(file.path))
    end
    written[#written + 1] = { uri = vim.uri_from_fname(file.path), type = TYPES[file.change] or 2 }
  end
  for _, client in ipairs(#written > 0 and request.running() or {}) do
    pcall(lsp.call, client, "notify", "workspace/didChangeWatchedFiles", { changes = written })
  end
end

---In a task: buffers without unsaved edits, and language servers, know then what has changed.
---@param changes? claude-code.ChangedFile[]
function M.take_over(changes)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buf) and path.of_buffer(buf)
    local version = name and disk.version(name) or nil
    if version ~= versions[buf] then
      versions[buf] = version
      reload.check(buf)
      task.breathe()
    end
  end
  M.notify(changes or {})
end

return M
