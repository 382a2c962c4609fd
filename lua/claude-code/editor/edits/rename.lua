--- Asks language servers for the edits of a rename: of a symbol, or of a file. They run in a task.
local apply = require("claude-code.editor.edits.apply")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local lsp = require("claude-code.lib.lsp")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local symbols = require("claude-code.editor.language.symbol")
local task = require("claude-code.lib.task")

local RENAME, PREPARE = "textDocument/rename", "textDocument/prepareRename"
local WILL_RENAME, DID_RENAME = "workspace/willRenameFiles", "workspace/didRenameFiles"

local DISABLED = "The user has switched rename_symbol off in Neovim (option language_tools.rename)."
local LATER = "Nothing was changed. Ask again in 10 s."

local M = {}

---@class claude-code.ServerEdit
---@field edit table WorkspaceEdit (LSP 3.17)
---@field encoding string in which it counts columns
---@field server string its name

---@class claude-code.EditAnswer
---@field edits claude-code.ServerEdit[]
---@field ticks? table<string, integer> of buffers when the servers were asked, by path
---@field name? string of the symbol, without those around it
---@field candidates? claude-code.LanguagePlaces several symbols have the name

---@param client vim.lsp.Client
---@param edit table
---@return claude-code.ServerEdit
function M.server_edit(client, edit)
  return { edit = edit, encoding = client.offset_encoding, server = client.name }
end

---@return claude-code.Failure?
local function disabled()
  if not require("claude-code.config").get().language_tools.rename then
    return { code = "disabled", message = DISABLED }
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

---@param client vim.lsp.Client
---@param symbol claude-code.Symbol
---@return string? refusal the server's own words
local function refusal_of(client, symbol)
  local provider = client.server_capabilities.renameProvider
  if type(provider) ~= "table" or not provider.prepareProvider then
    return nil
  end
  local answer = request.all({ client }, position.question(symbol, PREPARE))[1]
  return answer.failure or answer.result == nil and "it cannot be renamed" or nil
end

---The first server that can rename the symbol does: two would edit the same places twice.
---@param symbol claude-code.Symbol
---@param new_name string
---@return claude-code.EditAnswer?
---@return claude-code.Failure?
local function rename(symbol, new_name)
  local reasons = {}
  for _, client in ipairs(servers.capable(symbol.buf, RENAME)) do
    local name, refusal = client.name, refusal_of(client, symbol)
    if not refusal then
      local ticks = apply.ticks()
      local question = position.question(symbol, RENAME, { newName = new_name })
      local list, is_settled = request.settled(request.of_all({ client }, question))
      local answer = list[1]
      if answer.failure then
        return task.fail("failed", "%s does not rename `%s`: %s", name, symbol.name, answer.failure)
      elseif not is_settled then
        local text = "Not ready: %s may not know every use of `%s` yet. " .. LATER
        return task.fail("not_ready", text, name, symbol.name)
      elseif type(answer.result) ~= "table" then
        return task.fail("failed", "%s finds nothing to rename at `%s`.", name, symbol.name)
      end
      local edits = { M.server_edit(client, answer.result) }
      return { edits = edits, ticks = ticks, name = symbol.name }
    end
    reasons[#reasons + 1] = name .. ": " .. refusal
  end
  if #reasons > 0 then
    return task.fail("refused", "`%s` is not renamed. %s", symbol.name, table.concat(reasons, "; "))
  end
  local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(symbol.buf), ":.")
  return task.fail("unsupported", "No language server of %s can rename symbols.", file)
end

---@param params claude-code.SymbolParams|{ new_name: string }
---@return claude-code.EditAnswer?
---@return claude-code.Failure?
function M.symbol(params)
  local symbol, failure = nil, disabled()
  if not failure then
    symbol, failure = symbols.find(params)
  end
  if not symbol then
    return nil, failure
  elseif symbol.candidates then
    return { edits = {}, candidates = position.answer(symbol.candidates) }
  end
  if #symbol.definitions == 0 then
    local text = "No language server knows what `%s` is there."
    return nil,
      request.not_ready(request.states(symbol.answers, true), symbol.name) or {
        code = "not_found",
        message = text:format(symbol.name),
      }
  end
  return rename(at_definition(symbol), params.new_name)
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

---@param old_path string
---@param new_path string
---@return table RenameFilesParams (LSP 3.17)
local function rename_files_params(old_path, new_path)
  local old, new = vim.uri_from_fname(old_path), vim.uri_from_fname(new_path)
  return { files = { { oldUri = old, newUri = new } } }
end

---What the first server that wants to know changes when a file moves: two would edit the same places twice.
---@param params { old_path: string, new_path: string, changes?: claude-code.ChangedFile[] }
---@return claude-code.EditAnswer?
---@return claude-code.Failure?
function M.file(params)
  local buf, failure = nil, disabled()
  if not failure then
    files.take_over(params.changes)
    buf, failure = files.file({ params.old_path })
  end
  if not buf then
    return nil, failure
  end
  local client = vim.iter(servers.of_buffer(buf)):find(function(client)
    return wants(client, "willRename", params.old_path)
  end)
  if not client then
    local text = "No language server of %s updates what imports a file that moves."
    return task.fail("unsupported", text, vim.fn.fnamemodify(params.old_path, ":."))
  end
  local ticks = apply.ticks()
  local moved = rename_files_params(params.old_path, params.new_path)
  local question = { method = WILL_RENAME, params = moved }
  local list, is_settled = request.settled(request.of_all({ client }, question))
  local answer = list[1]
  if answer.failure then
    return task.fail("failed", "%s gave no answer: %s.", client.name, answer.failure)
  elseif not is_settled then
    return task.fail("not_ready", "Not ready: %s is reading the project. " .. LATER, client.name)
  end
  local edits = type(answer.result) == "table" and { M.server_edit(client, answer.result) } or {}
  return { edits = edits, ticks = ticks }
end

---A file was moved: every server that wants to know is notified.
---@param params { old_path: string, new_path: string }
function M.moved(params)
  local moved = rename_files_params(params.old_path, params.new_path)
  for _, client in ipairs(servers.running()) do
    if wants(client, "didRename", params.old_path) then
      pcall(lsp.call, client, "notify", DID_RENAME, moved)
    end
  end
end

return M
