--- Code actions of language servers: lists them, and gets the edits of one. They run in a task.
local api = vim.api
local apply = require("claude-code.editor.edits.apply")
local columns = require("claude-code.editor.columns")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local lsp = require("claude-code.lib.lsp")
local rename = require("claude-code.editor.edits.rename")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.lib.task")

local CODE_ACTION, RESOLVE = "textDocument/codeAction", "codeAction/resolve"
local FORMATTING = "textDocument/formatting"
local EXECUTE, APPLY = "workspace/executeCommand", "workspace/applyEdit"

---What Claude may name instead of a title: the kind that servers are asked for.
local KINDS = { organize_imports = "source.organizeImports", fix_all = "source.fixAll" }

local DISABLED =
  "The user has switched code_action off in Neovim (option language_tools.code_action)."

local M = {}

---@class claude-code.OfferedAction
---@field client vim.lsp.Client
---@field action table CodeAction or Command (LSP 3.17)

---@class claude-code.CodeActionParams
---@field file string[]
---@field named string
---@field line? integer 1-based
---@field action? string a title, "format" or one of KINDS; nil: list them
---@field changes? claude-code.ChangedFile[]

---@param row integer?
---@param client vim.lsp.Client
---@return table[] Diagnostic[] (LSP 3.17) as the server sent them
local function diagnostics_of(buf, row, client)
  local found = {}
  for _, item in ipairs(vim.diagnostic.get(buf, { lnum = row })) do
    local sent = item.user_data and item.user_data.lsp
    local name = vim.diagnostic.get_namespace(item.namespace).name or ""
    local is_own = name:find(("%%.%d$"):format(client.id))
      or name:find(("%%.%d%%."):format(client.id))
    if sent and sent.range and is_own then
      found[#found + 1] = sent
    end
  end
  return found
end

---@param row integer? nil: the whole file
---@param only string[]?
---@param client vim.lsp.Client
---@return table CodeActionParams (LSP 3.17)
local function params_of(buf, row, only, client)
  local first, last = row or 0, row or api.nvim_buf_line_count(buf) - 1
  local line = lines.at(buf, last)
  local column = columns.of_byte(line, #line, client.offset_encoding)
  return {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    range = {
      start = { line = first, character = 0 },
      ["end"] = { line = last, character = column },
    },
    context = { diagnostics = diagnostics_of(buf, row, client), only = only, triggerKind = 1 },
  }
end

--- Does a title quote a private file's path, from the folder of the buffer's file, as an import has it?
local function names_private(title, buf)
  local privacy = require("claude-code.editor.privacy")
  local folder = vim.fs.dirname(api.nvim_buf_get_name(buf))
  for quoted in title:gmatch("[\"'`]([^\"'`]+)[\"'`]") do
    if privacy.is_private(vim.fs.normalize(vim.fs.joinpath(folder, quoted))) then
      return true
    end
  end
  return false
end

---@param row integer?
---@param only? string[]
---@return claude-code.OfferedAction[]
---@return string? failure of a server
local function offered(buf, row, only)
  local list, failure = {}, nil
  local found = request.all(servers.capable(buf, CODE_ACTION), {
    method = CODE_ACTION,
    buf = buf,
    params = function(client)
      return params_of(buf, row, only, client)
    end,
  })
  for _, answer in ipairs(found) do
    failure = failure or answer.failure and answer.client.name .. ": " .. answer.failure
    for _, action in ipairs(type(answer.result) == "table" and answer.result or {}) do
      local is_offered = type(action.title) == "string" and not action.disabled
      if is_offered and not names_private(action.title, buf) then
        list[#list + 1] = { client = answer.client, action = action }
      end
    end
  end
  return list, failure
end

---@param list claude-code.OfferedAction[]
---@return { title: string, kind?: string, server: string }[]
local function shown(list)
  return vim.tbl_map(function(entry)
    local action = entry.action
    local kind = type(action.kind) == "string" and action.kind ~= "" and action.kind or nil
    return { title = action.title, kind = kind, server = entry.client.name }
  end, list)
end

---@return claude-code.EditAnswer?
---@return claude-code.Failure?
local function format(buf)
  local client = servers.capable(buf, FORMATTING)[1]
  if not client then
    return task.fail("unsupported", "No language server of this file can format it.")
  end
  local uri = vim.uri_from_bufnr(buf)
  local options = { tabSize = vim.lsp.util.get_effective_tabstop(buf) }
  options.insertSpaces = vim.bo[buf].expandtab
  local params = { textDocument = { uri = uri }, options = options }
  local answer = request.all({ client }, { method = FORMATTING, buf = buf, params = params })[1]
  if answer.failure then
    return task.fail("failed", "%s does not format it: %s.", client.name, answer.failure)
  end
  local is_empty = #(answer.result or {}) == 0
  local changes = is_empty and vim.empty_dict() or { [uri] = answer.result }
  return { edits = { rename.server_edit(client, { changes = changes }) } }
end

---What servers ask to apply while a command of theirs runs.
---@type table<integer, { edits: table[], till: number }> by client
local catching = {}

---@param client vim.lsp.Client
local function catch_edits(client)
  lsp.wrap(client.handlers, APPLY, function(inner, err, result, ctx, config)
    local caught = catching[ctx.client_id]
    if not caught or vim.uv.now() > caught.till then
      return (inner or vim.lsp.handlers[APPLY])(err, result, ctx, config)
    end
    table.insert(caught.edits, result and result.edit)
    -- The second would be about a text that no server has yet.
    return { applied = #caught.edits == 1 }
  end)
end

---@param client vim.lsp.Client
---@param command table
---@return boolean false if Neovim, or the user's configuration, would run it
local function is_of_server(client, command)
  local name = tostring(command.command)
  local provider = client.server_capabilities.executeCommandProvider or {}
  local is_of_editor = vim.lsp.commands[name] ~= nil or (client.commands or {})[name] ~= nil
  return vim.list_contains(provider.commands or {}, name) and not is_of_editor
end

---The edit for which the server of a command asks while it runs, in a task.
---@param client vim.lsp.Client
---@param command { command: string, arguments?: any[] }
---@return claude-code.EditAnswer?
---@return claude-code.Failure?
local function run_command(client, command)
  catch_edits(client)
  -- A task that is cancelled ends here.
  local caught = { edits = {}, till = vim.uv.now() + task.time_left() }
  catching[client.id] = caught
  local sent = { command = command.command, arguments = command.arguments }
  local answer = request.all({ client }, { method = EXECUTE, params = sent })[1]
  catching[client.id] = nil
  if answer.failure then
    return task.fail("failed", "%s: %s", client.name, answer.failure)
  elseif #caught.edits > 1 then
    local text = "%s made several edits one after the other. Nothing was changed."
    return task.fail("several", text, client.name)
  end
  local edit = caught.edits[1]
  return { edits = edit and { rename.server_edit(client, edit) } or {} }
end

---@param entry claude-code.OfferedAction
---@return claude-code.CodeActionAnswer?
---@return claude-code.Failure?
local function edits_of(entry, buf)
  local client, action = entry.client, entry.action
  local provider = client.server_capabilities.codeActionProvider
  local resolves = type(provider) == "table" and provider.resolveProvider
  if not action.edit and type(action.command) ~= "string" and resolves then
    local answer = request.all({ client }, { method = RESOLVE, buf = buf, params = action })[1]
    if answer.failure then
      return task.fail("failed", "%s: %s", client.name, answer.failure)
    end
    action = answer.result or action
  end
  -- A Command alone has its name where a CodeAction has the Command.
  local command = type(action.command) == "string" and action or action.command
  command = type(command) == "table" and command or nil
  if type(action.edit) == "table" then
    local left = command and tostring(command.command) or nil
    return { edits = { rename.server_edit(client, action.edit) }, left = left }
  elseif not command then
    return { edits = {} }
  elseif not is_of_server(client, command) then
    local text = "Only an editor can run the command %q of this code action. Nothing was changed."
    return task.fail("client_command", text, command.command)
  end
  return run_command(client, command)
end

---@param row integer?
---@param params claude-code.CodeActionParams
---@return claude-code.CodeActionAnswer?
---@return claude-code.Failure?
local function chosen(buf, row, params)
  local action = params.action --[[@as string]]
  local kind = KINDS[action]
  local list, problem = offered(buf, row, kind and { kind } or nil)
  for _, entry in ipairs(list) do
    -- Some servers offer more than what they are asked for.
    local is_kind = kind and vim.startswith(tostring(entry.action.kind), kind)
    if is_kind or not kind and entry.action.title == action then
      return edits_of(entry, buf)
    end
  end
  if kind and not problem then
    return { edits = {} }
  end
  local text = problem or ("No code action %q is offered there. List them first."):format(action)
  return task.fail("not_found", "%s", text)
end

---@class claude-code.CodeActionAnswer : claude-code.EditAnswer
---@field left? string the command behind an edit, which is not run
---@field actions? { title: string, kind?: string, server: string }[] without `action`

---@param params claude-code.CodeActionParams
---@return claude-code.CodeActionAnswer?
---@return claude-code.Failure?
function M.run(params)
  if not require("claude-code.config").get().language_tools.code_action then
    return task.fail("disabled", DISABLED)
  end
  files.take_over(params.changes)
  local buf, failure = files.named(params)
  if not buf then
    return nil, failure
  end
  local row = params.line and math.min(params.line, api.nvim_buf_line_count(buf)) - 1
  if not params.action then
    local list, problem = offered(buf, row)
    if #list == 0 and problem then
      return task.fail("failed", "%s", problem)
    end
    return { edits = {}, actions = shown(list) }
  end
  local ticks = apply.ticks()
  local answer ---@type claude-code.CodeActionAnswer?
  if params.action == "format" then
    answer, failure = format(buf)
  else
    answer, failure = chosen(buf, row, params)
  end
  return answer and vim.tbl_extend("error", answer, { ticks = ticks }), failure
end

return M
