--- Runs a server's command, and catches the edit that it asks Neovim to apply.
local request = require("claude-code.editor.language.request")
local task = require("claude-code.editor.language.task")

local EXECUTE, APPLY = "workspace/executeCommand", "workspace/applyEdit"
local M = {}

---@param client vim.lsp.Client
---@param name string
---@return boolean is it one that Neovim, or the user's configuration, would run?
local function is_of_client(client, name)
  local provider = client.server_capabilities.executeCommandProvider or {}
  local is_of_server = vim.list_contains(provider.commands or {}, name)
  return not is_of_server or vim.lsp.commands[name] ~= nil or (client.commands or {})[name] ~= nil
end

---What servers ask to apply while a command of theirs runs.
---@type table<integer, { edits: table[], till: number }> by client
local catching = {}
---Configurations share the table of their handlers.
local wrapped = setmetatable({}, { __mode = "k" }) ---@type table<table, true>

---@param client vim.lsp.Client
local function wrap_handler(client)
  local own = client.handlers[APPLY]
  if wrapped[client.handlers] then
    return
  end
  wrapped[client.handlers] = true
  client.handlers[APPLY] = function(err, result, ctx, config)
    local caught = catching[ctx.client_id]
    if not caught or vim.uv.now() > caught.till then
      return (own or vim.lsp.handlers[APPLY])(err, result, ctx, config)
    end
    table.insert(caught.edits, result and result.edit)
    -- The second would be about a text that no server has yet.
    return { applied = #caught.edits == 1 }
  end
end

---@class claude-code.ServerCommand
---@field client integer
---@field command { command: string, arguments?: any[] }

---@param client vim.lsp.Client
---@param command table
---@return claude-code.ServerCommand? nil if the server does not run it
function M.of_server(client, command)
  if not is_of_client(client, tostring(command.command)) then
    return { client = client.id, command = command }
  end
end

---In a task: the edits that a command's server asks for while it runs.
---@param params claude-code.ServerCommand
---@return table[]? edits WorkspaceEdit[] (LSP 3.17)
---@return claude-code.Failure?
function M.run(params)
  local client, command = vim.lsp.get_client_by_id(params.client), params.command
  if not client then
    return nil, { code = "ended", message = "The language server has ended." }
  end
  wrap_handler(client)
  -- A task that is cancelled ends here.
  local caught = { edits = {}, till = vim.uv.now() + task.time_left() }
  catching[client.id] = caught
  local sent = { command = command.command, arguments = command.arguments }
  local answer = request.all({ client }, { method = EXECUTE, params = sent })[1]
  catching[client.id] = nil
  if answer.failure then
    return nil, { code = "failed", message = ("%s: %s"):format(client.name, answer.failure) }
  elseif #caught.edits > 1 then
    local text = "%s made several edits one after the other. Nothing was changed."
    return nil, { code = "several", message = text:format(client.name) }
  end
  return caught.edits
end

return M
