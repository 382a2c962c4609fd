--- Asks language servers for the edits of a rename: of a symbol, or of a file. They run in a task.
local call = require("claude-code.lib.lsp").call
local channel = require("claude-code.server.channel")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local locate = require("claude-code.editor.language.locate")
local notify = require("claude-code.messages.notify")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.lib.task")

local RENAME, PREPARE = "textDocument/rename", "textDocument/prepareRename"
local WILL_RENAME, DID_RENAME = "workspace/willRenameFiles", "workspace/didRenameFiles"

local DISABLED = "The user has switched rename_symbol off in Neovim (option language_tools.rename)."

---How long a server that is starting is asked again.
local START_MS, STEP_MS = 8000, 500
local LATER = "Nothing was changed. Ask again in 10 s."

local M = {}

---@class claude-code.ServerEdit
---@field edit table WorkspaceEdit (LSP 3.17)
---@field encoding string in which it counts columns
---@field server string its name

---@class claude-code.RenameAnswer
---@field edits claude-code.ServerEdit[]
---@field name? string of the symbol, without those around it
---@field candidates? claude-code.LanguagePlaces several symbols have the name

---@param client vim.lsp.Client
---@param symbol claude-code.Symbol
---@return string? refusal the server's own words
local function refusal_of(client, symbol)
  local provider = client.server_capabilities.renameProvider
  if type(provider) ~= "table" or not provider.prepareProvider then
    return nil
  end
  local answer = request.all({ client }, position.question(symbol, PREPARE))[1]
  if answer.failure then
    return answer.failure
  end
  return answer.result == nil and "it cannot be renamed" or nil
end

---@param client vim.lsp.Client
---@param symbol claude-code.Symbol
---@param new_name string
---@return claude-code.ServerEdit?
---@return claude-code.Failure?
local function edit_by(client, symbol, new_name)
  local question = position.question(symbol, RENAME, { newName = new_name })
  local list, settled = request.settled({ client }, question)
  local answer, state = list[1], servers.state_of(client)
  if answer.failure then
    local text = "%s does not rename `%s`: %s"
    return task.fail("failed", text, client.name, symbol.name, answer.failure)
  elseif not settled then
    local text = "Not ready: %s is %s, so it may not know every use of `%s` yet. " .. LATER
    local what = state.state == "idle" and "reading the project" or state.state
    return task.fail("not_ready", text, client.name, what, symbol.name)
  elseif type(answer.result) ~= "table" then
    return task.fail("failed", "%s finds nothing to rename at `%s`.", client.name, symbol.name)
  end
  return { edit = answer.result, encoding = client.offset_encoding, server = client.name }
end

---A server that reads the project knows no symbol yet, or only its file's.
---@param params claude-code.SymbolParams
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
local function locate_when_ready(params)
  local limit = vim.uv.now() + START_MS
  while true do
    local found, failure = locate.symbol(params)
    local symbol = found and found.symbol
    if not symbol or #symbol.definitions > 0 then
      return found, failure
    end
    local is_starting = vim.iter(servers.of_buffer(symbol.buf)):any(function(client)
      return servers.is_young(client) or servers.state_of(client).state ~= "idle"
    end)
    if not is_starting then
      return task.fail("not_found", "No language server knows what `%s` is there.", symbol.name)
    elseif vim.uv.now() > limit then
      local name = servers.of_buffer(symbol.buf)[1].name
      local text = "Not ready: %s does not know `%s` yet. " .. LATER
      return task.fail("not_ready", text, name, symbol.name)
    end
    task.sleep(STEP_MS)
  end
end

---Where servers are asked: at the definition, since typescript-language-server renames only an import's
---local name where that is used. Not if that has another name (`import { a as b }`).
---@param symbol claude-code.Symbol
---@return claude-code.Symbol
local function at_definition(symbol)
  for _, place in ipairs(symbol.definitions) do
    local buf = place.path and files.file({ place.path })
    local at = buf and position.occurrence(buf, place)
    if at and vim.startswith(lines.at(at.buf, at.row):sub(at.col + 1), symbol.name) then
      return vim.tbl_extend("force", symbol, at)
    end
  end
  return symbol
end

---The first server that can rename the symbol does: two would edit the same places twice.
---@param symbol claude-code.Symbol
---@param new_name string
---@return claude-code.RenameAnswer?
---@return claude-code.Failure?
local function rename(symbol, new_name)
  local reasons = {}
  for _, client in ipairs(servers.capable(symbol.buf, RENAME)) do
    local refusal = refusal_of(client, symbol)
    if not refusal then
      local edit, failure = edit_by(client, symbol, new_name)
      return edit and { edits = { edit }, name = symbol.name }, failure
    end
    reasons[#reasons + 1] = client.name .. ": " .. refusal
  end
  if #reasons > 0 then
    return task.fail("refused", "`%s` is not renamed. %s", symbol.name, table.concat(reasons, "; "))
  end
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(symbol.buf), ":.")
  return task.fail("unsupported", "No language server of %s can rename symbols.", name)
end

---@param params claude-code.SymbolParams|{ new_name: string }
---@return claude-code.RenameAnswer?
---@return claude-code.Failure?
function M.symbol(params)
  if not require("claude-code.config").get().language_tools.rename then
    return task.fail("disabled", DISABLED)
  end
  local found, failure = locate_when_ready(params)
  if not found then
    return nil, failure
  elseif found.candidates then
    local places = vim.tbl_map(function(candidate)
      return candidate.place
    end, found.candidates)
    return { edits = {}, candidates = position.answer(places) }
  end
  return rename(at_definition(found.symbol --[[@as claude-code.Symbol]]), params.new_name)
end

---@param client vim.lsp.Client
---@param operation "willRename"|"didRename"
---@return boolean does the server want to know that this file is renamed?
local function wants(client, operation, name)
  local workspace = client.server_capabilities.workspace or {}
  local registered = (workspace.fileOperations or {})[operation]
  return vim.iter(registered and registered.filters or {}):any(function(filter)
    local pattern = filter.pattern or {}
    local ok, glob = pcall(vim.glob.to_lpeg, pattern.glob or "")
    local subject = (pattern.options or {}).ignoreCase and name:lower() or name
    return ok
      and (filter.scheme == nil or filter.scheme == "file")
      and pattern.matches ~= "folder"
      and glob:match(subject) ~= nil
  end)
end

---@param params { old_path: string, new_path: string }
---@return table RenameFilesParams (LSP 3.17)
local function rename_files_params(params)
  local old, new = vim.uri_from_fname(params.old_path), vim.uri_from_fname(params.new_path)
  return { files = { { oldUri = old, newUri = new } } }
end

---What all servers change when a file moves.
---@param params { old_path: string, new_path: string, changes?: claude-code.ChangedFile[] }
---@return claude-code.RenameAnswer?
---@return claude-code.Failure?
function M.file(params)
  if not require("claude-code.config").get().language_tools.rename then
    return task.fail("disabled", DISABLED)
  end
  files.take_over(params.changes)
  local buf, failure = files.file({ params.old_path })
  if not buf then
    return nil, failure
  end
  local clients = vim.tbl_filter(function(client)
    return wants(client, "willRename", params.old_path)
  end, servers.of_buffer(buf))
  if #clients == 0 then
    local text =
      "No language server of %s updates what imports a file that moves. Nothing was changed."
    return task.fail("unsupported", text, vim.fn.fnamemodify(params.old_path, ":."))
  end
  local question = { method = WILL_RENAME, params = rename_files_params(params) }
  local list, settled = request.settled(clients, question)
  local edits = {}
  for _, answer in ipairs(list) do
    local name = answer.client.name
    if answer.failure then
      local text = "%s gave no answer: %s. Nothing was changed."
      return task.fail("failed", text, name, answer.failure)
    elseif not settled then
      return task.fail("not_ready", "Not ready: %s is reading the project. " .. LATER, name)
    elseif type(answer.result) == "table" then
      local encoding = answer.client.offset_encoding
      edits[#edits + 1] = { edit = answer.result, encoding = encoding, server = name }
    end
  end
  return { edits = edits }
end

---Files were changed, and perhaps one was moved: every server is notified. In a task.
---@param params { changes: claude-code.ChangedFile[], old_path?: string, new_path?: string }
function M.done(params)
  files.take_over(params.changes)
  for _, client in ipairs(params.old_path and servers.running() or {}) do
    if wants(client, "didRename", params.old_path) then
      pcall(call, client, "notify", DID_RENAME, rename_files_params(params))
    end
  end
end

---Takes back what Claude renamed last, or the worktree that came home last; the executable does it.
---@param what "rename"|"home"
function M.undo(what)
  if not channel.is_attached() then
    return notify.error("the server is not running, so nothing was undone: :Claude starts it")
  end
  local params = { home = what == "home" }
  require("claude-code.server.requests").request("edits/undo", params, function(undone, problem)
    if problem then
      return notify.warn(problem)
    end
    files.notify(undone.changes)
    notify.info(undone.done)
  end)
end

---An operation that was interrupted was taken back, but for a file.
---@param report { problem: string }
function M.on_recovered(report)
  notify.warn(report.problem)
end

return M
