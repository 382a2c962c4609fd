--- Opens files for questions to language servers: uses the user's buffers, or loads files that are deleted again later.
--- Reports files that Claude, its shell or git wrote to servers, since Neovim watches no files on Linux.
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

---How long a server may take to attach: its configuration may first run a program to find the project's root.
local M = { ATTACH_MS = 3000 }

---Waits in a task until a server of the buffer is ready.
---@param is_new boolean the buffer was just loaded
---@return integer? buf, claude-code.Failure?
local function with_server(buf, is_new)
  task.wait_for(function()
    return #lsp.of_buffer(buf) > 0
  end, is_new and not documents.is_asleep(buf) and M.ATTACH_MS or 0)
  task.wait_for(function()
    return vim.iter(lsp.of_buffer(buf)):all(function(client)
      return client.initialized or client:is_stopped()
    end)
  end, INITIALIZE_MS)
  local attached = lsp.of_buffer(buf)
  local is_ready = vim.iter(attached):any(function(client)
    return client.initialized
  end)
  if is_ready then
    return buf
  elseif attached[1] then
    return task.fail("not_ready", "Not ready: %s is starting. Ask again in 10 s.", attached[1].name)
  end
  local name, filetype = path.title(api.nvim_buf_get_name(buf)), vim.bo[buf].filetype
  local text = "No language server is attached in Neovim to %s (file type %s). Use Grep"
    .. (documents.is_asleep(buf) and ", or ask the user to open a file of this type." or ".")
  return task.fail("no_server", text, name, filetype == "" and "unknown" or filetype)
end

---Finds or loads the buffer of the first path that is a file of the workspace, and waits for a server, in a task.
---@param candidates string[] in normal form; empty if the file is private
---@param named? string path as Claude gave it
---@return integer? buf, claude-code.Failure?
function M.file(candidates, named)
  for _, name in ipairs(candidates) do
    if privacy.is_private(name) then
      return task.fail("private", "%s", privacy.refusal(name))
    end
    local buf, failure = path.loaded_buffer(name), nil ---@type integer?, string?
    local is_new = not buf or documents.wake(buf)
    if not buf and background.is_in_workspace(name) then
      buf, failure = writes.load(name)
    end
    if buf then
      background.keep(buf)
      return with_server(buf, is_new)
    elseif failure then
      return nil, failure
    end
  end
  local name = candidates[1]
  if not name then
    return task.fail("private", "%s", privacy.refusal(named --[[@as string]]))
  end
  local text = not vim.uv.fs_stat(name) and "%s does not exist."
    or not background.is_in_workspace(name) and "%s is not in the workspace. Use Grep or Read."
    or "Neovim cannot load %s. Use Grep."
  return task.fail("not_found", text, path.title(name))
end

---@class claude-code.ChangedFile
---@field path string
---@field change "created"|"changed"|"deleted"

local versions = {} ---@type table<integer, string> of files when they were last compared, by buffer

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

---Reloads changed buffers and notifies language servers, in a task.
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
