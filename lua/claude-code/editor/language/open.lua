--- A file that language servers have open: as the user has it, else loaded without a trace and released
--- after a while.
local api = vim.api
local hidden = require("claude-code.editor.diagnostics.hidden")
local path = require("claude-code.editor.documents.path")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.editor.language.task")

local OPTIONS = { most_bytes = 1024 * 1024, keep_ms = 10 * 60 * 1000, for_diagnostics = false }
---A configuration may look for the project's root first, with a program even, and then start its
---server. Where no server came for a file type, it is waited for no longer than a moment.
local ATTACH_MS, ATTACH_AGAIN_MS = 3000, 150
local INITIALIZE_MS = 10000

local M = {}

local without_server = {} ---@type table<string, true> file types

---@param buf integer
---@return claude-code.Failure
local function no_server(buf)
  local filetype = vim.bo[buf].filetype
  local ended = servers.ended(filetype, false)
  local name = path.title(api.nvim_buf_get_name(buf))
  if #ended > 0 then
    local text =
      "%s, the language server of %s, has ended. Use Grep, or ask the user to start it again."
    return { code = "ended", message = text:format(table.concat(ended, ", "), name) }
  end
  local text = "No language server is attached in Neovim to %s (file type %s). Use Grep."
  filetype = filetype == "" and "unknown" or filetype
  return { code = "no_server", message = text:format(name, filetype) }
end

---Waits until the buffer's servers are ready for requests, in a task.
---@param buf integer
---@param is_new boolean it was loaded just now
---@return claude-code.Failure?
local function wait_for_servers(buf, is_new)
  local filetype = vim.bo[buf].filetype
  local attach_ms = is_new and (without_server[filetype] and ATTACH_AGAIN_MS or ATTACH_MS) or 0
  local attached = task.wait_for(function()
    local list = servers.of_buffer(buf)
    return #list > 0 and list or nil
  end, attach_ms)
  without_server[filetype] = not attached or nil
  if not attached then
    return no_server(buf)
  end
  task.wait_for(function()
    return vim.iter(servers.of_buffer(buf)):all(function(client)
      return client.initialized or client:is_stopped()
    end) or nil
  end, math.min(INITIALIZE_MS, task.time_left() - 1000))
  for _, client in ipairs(servers.of_buffer(buf)) do
    if client.initialized then
      return nil
    end
  end
  local first = servers.of_buffer(buf)[1]
  if not first then
    return no_server(buf)
  end
  local text = "Not ready: %s is starting. Ask again in 10 s."
  return { code = "not_ready", message = text:format(first.name) }
end

---@param name string
---@return claude-code.Failure
local function cannot_load(name)
  local text = not vim.uv.fs_stat(name) and "%s does not exist."
    or not hidden.is_in_workspace(name) and "%s is not in the workspace. Use Grep or Read."
    or "Neovim cannot load %s. Use Grep."
  return { code = "not_found", message = text:format(path.title(name)) }
end

---Loads the first of these paths that is a file of the workspace, unless it is loaded.
---@param candidates string[] in normal form
---@return integer? buf
---@return claude-code.Failure?
---@return boolean is_new it was loaded just now
function M.load(candidates)
  for _, name in ipairs(candidates) do
    if require("claude-code.editor.privacy").is_private(name) then
      local message = require("claude-code.editor.privacy").refusal(name)
      return nil, { code = "private", message = message }, false
    end
    local buf, failure, is_new = path.loaded_buffer(name), nil, false ---@type integer?, string?, boolean
    if not buf then
      buf, failure = hidden.load(name, OPTIONS)
      is_new = true
    end
    if buf then
      hidden.keep(buf, OPTIONS.keep_ms)
    end
    if buf or failure then
      return buf, failure, is_new
    end
  end
  return nil, cannot_load(candidates[1]), false
end

---As `load`, in a task: with at least one language server that is ready.
---@param candidates string[] in normal form
---@return integer? buf
---@return claude-code.Failure?
function M.file(candidates)
  local buf, failure, is_new = M.load(candidates)
  if buf then
    failure = wait_for_servers(buf, is_new)
  end
  return not failure and buf or nil, failure
end

return M
