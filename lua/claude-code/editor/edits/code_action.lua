--- Code actions of language servers: lists them, and gets the edits of one. They run in a task.
local api = vim.api
local columns = require("claude-code.editor.columns")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local lsp = require("claude-code.lib.lsp")
local position = require("claude-code.editor.language.position")
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
---@field line? integer 1-based, as on disk
---@field action? string|integer a title, or a number of the last list; nil: list them
---@field changes? claude-code.ChangedFile[]

---The last list of each buffer: its numbers count as long as the text is the same.
---@type table<integer, { tick: integer, line?: integer, titles: string[] }>
local lists = {}

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

---@param client vim.lsp.Client
---@param edit table
---@return claude-code.ServerEdit
local function server_edit(client, edit)
  return { edit = edit, encoding = client.offset_encoding, server = client.name }
end

---@return claude-code.RenameAnswer?
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
  return { edits = { server_edit(client, { changes = changes }) } }
end

---@param list claude-code.OfferedAction[]
---@param test fun(action: table): boolean
---@param at? integer the number of one that is looked at first: several may have one title
---@return claude-code.OfferedAction?
local function find(list, test, at)
  local named = at and list[at]
  return named and test(named.action) and named
    or vim.iter(list):find(function(entry)
      return test(entry.action)
    end)
end

---@param params claude-code.CodeActionParams
---@return string? title
---@return claude-code.Failure?
local function title_of(buf, params)
  local number = tonumber(params.action)
  if not number then
    return params.action --[[@as string]]
  end
  local list = lists[buf]
  if not list or list.tick ~= api.nvim_buf_get_changedtick(buf) or list.line ~= params.line then
    return task.fail(
      "expired",
      "The list of code actions has expired: the text is another one, or the "
        .. "line is. List them again, or give a title."
    )
  elseif not list.titles[number] then
    return task.fail("not_found", "The list has %d code actions, not %d.", #list.titles, number)
  end
  return list.titles[number]
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

---@class claude-code.ServerCommand
---@field client integer
---@field command { command: string, arguments?: any[] }

---@param client vim.lsp.Client
---@param command table
---@return claude-code.ServerCommand? nil if Neovim, or the user's configuration, would run it
local function of_server(client, command)
  local name = tostring(command.command)
  local provider = client.server_capabilities.executeCommandProvider or {}
  local is_of_editor = vim.lsp.commands[name] ~= nil or (client.commands or {})[name] ~= nil
  if vim.list_contains(provider.commands or {}, name) and not is_of_editor then
    return { client = client.id, command = command }
  end
end

---The edits that the server of a command asks for while it runs, in a task.
---@param params claude-code.ServerCommand
---@return claude-code.RenameAnswer?
---@return claude-code.Failure?
function M.run_command(params)
  local client, command = vim.lsp.get_client_by_id(params.client), params.command
  if not client then
    return task.fail("ended", "The language server has ended.")
  end
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
  return { edits = edit and { server_edit(client, edit) } or {} }
end

---@param entry claude-code.OfferedAction
---@return claude-code.RenameAnswer?
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
  local server_command = command and of_server(client, command)
  if type(action.edit) == "table" then
    local edits = { server_edit(client, action.edit) }
    return { edits = edits, command = server_command }
  elseif not command then
    return { edits = {} }
  elseif not server_command then
    local text = "Only an editor can run the command %q of this code action. Nothing was changed."
    return task.fail("client_command", text, command.command)
  end
  return M.run_command(server_command)
end

---@param row integer?
---@param params claude-code.CodeActionParams
---@return claude-code.RenameAnswer?
---@return claude-code.Failure?
local function chosen(buf, row, params)
  local kind = KINDS[params.action]
  local title, failure = title_of(buf, params)
  if not title then
    return nil, failure
  end
  local list, problem = offered(buf, row, kind and { kind } or nil)
  local entry = find(list, function(action)
    -- Some servers offer more than what they are asked for.
    return kind and vim.startswith(tostring(action.kind), kind) or action.title == title
  end, tonumber(params.action))
  if entry then
    return edits_of(entry, buf)
  elseif kind and not problem then
    return { edits = {} }
  end
  local text = problem or ("No code action %q is offered there. List them first."):format(title)
  return task.fail("not_found", "%s", text)
end

---@class claude-code.CodeActionAnswer : claude-code.RenameAnswer
---@field command? claude-code.ServerCommand to be run once the edits are made
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
  local row = params.line and position.row(buf, params.line)
  if params.action == "format" then
    return format(buf)
  elseif params.action then
    return chosen(buf, row, params)
  end
  local list, problem = offered(buf, row)
  if #list == 0 and problem then
    return task.fail("failed", "%s", problem)
  end
  local actions = shown(list)
  lists[buf] = {
    tick = api.nvim_buf_get_changedtick(buf),
    line = params.line,
    titles = vim.tbl_map(function(action)
      return action.title
    end, actions),
  }
  return { edits = {}, actions = actions }
end

return M
