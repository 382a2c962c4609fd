--- The connection of a copy of a language server. The server sees a proposal under the name of its
--- file; Neovim, under the name of the proposal's buffer. Every message is translated between the two.
--- What would act outside of the proposal is left out: edits, watched files, messages to the user.
local M = {}

---What the copy may offer. Nothing that edits: the answer would name the file.
local CAPABILITIES = {
  "completionProvider",
  "declarationProvider",
  "definitionProvider",
  "documentHighlightProvider",
  "documentSymbolProvider",
  "hoverProvider",
  "implementationProvider",
  "positionEncoding",
  "referencesProvider",
  "signatureHelpProvider",
  "typeDefinitionProvider",
}

---@type table<string, true> by method
local OFFERED = {}
for _, name in ipairs(CAPABILITIES) do
  OFFERED["textDocument/" .. name:gsub("Provider$", "")] = true
end

---Requests of the server that are answered without asking Neovim.
local ANSWERS = {
  ["client/unregisterCapability"] = vim.NIL,
  ["window/showMessageRequest"] = vim.NIL,
  ["window/workDoneProgress/create"] = vim.NIL,
  ["workspace/applyEdit"] = { applied = false },
}

---The proposal that a copy has open: one at a time for each file.
---@class claude-code.LspDocument
---@field uri string as Neovim names the buffer
---@field file_uri string
---@field path string as Neovim names the file
---@field real? string the same with symbolic links resolved, as some servers do
---@field buf integer

---@class claude-code.LspSide what a copy of a server needs of the side that starts it
---@field documents table<string, claude-code.LspDocument> by the buffer's URI
---@field on_report fun(document: claude-code.LspDocument, items: lsp.Diagnostic[], version?: integer)
---@field on_change fun(document: claude-code.LspDocument) the server has received a text
---@field on_pull fun(options: table) it gives diagnostics only when asked
---@field on_exit fun(code: integer)
---@field server? vim.lsp.rpc.PublicClient

---@param value any
---@param translate fun(text: string): string?
---@return any
local function translated(value, translate)
  if type(value) == "string" then
    return translate(value) or value
  elseif type(value) ~= "table" then
    return value
  end
  local copy = setmetatable({}, getmetatable(value))
  for key, item in pairs(value) do
    copy[key] = translated(item, translate)
  end
  return copy
end

---@param side claude-code.LspSide
---@param uri string
---@return claude-code.LspDocument?
function M.document_of(side, uri)
  if not vim.startswith(uri, "file:") then
    return nil
  end
  -- Servers write a URI in spellings of their own.
  local path = vim.uri_to_fname(uri)
  for _, document in pairs(side.documents) do
    if document.path == path or document.real == path then
      return document
    end
  end
end

---@param side claude-code.LspSide
---@param params any
---@return any
local function for_server(side, params)
  return translated(params, function(text)
    local document = side.documents[text]
    return document and document.file_uri
  end)
end

---@param side claude-code.LspSide
---@param result any
---@return any
local function for_neovim(side, result)
  return translated(result, function(text)
    local document = M.document_of(side, text)
    return document and document.uri
  end)
end

---@param side claude-code.LspSide
---@param result lsp.InitializeResult
---@return lsp.InitializeResult
local function limited(side, result)
  local all = result.capabilities
  local capabilities = {}
  for _, name in ipairs(CAPABILITIES) do
    capabilities[name] = all[name]
  end
  local sync = all.textDocumentSync
  local change = type(sync) == "table" and sync.change or sync
  capabilities.textDocumentSync = { openClose = true, change = change }
  if all.diagnosticProvider then
    side.on_pull(all.diagnosticProvider)
  end
  return vim.tbl_extend("force", result, { capabilities = capabilities })
end

---What the server offers later, beside what it said at its start.
---@param side claude-code.LspSide
---@param registrations lsp.Registration[]
---@return lsp.Registration[]
local function offered(side, registrations)
  return vim.tbl_filter(function(registration)
    if registration.method == "textDocument/diagnostic" then
      side.on_pull(registration.registerOptions or {})
    end
    return OFFERED[registration.method] == true
  end, registrations)
end

---@param side claude-code.LspSide
---@param dispatchers vim.lsp.rpc.Dispatchers Neovim's
---@return vim.lsp.rpc.Dispatchers
local function receivers(side, dispatchers)
  return {
    notification = function(method, params)
      local document = method == "textDocument/publishDiagnostics"
        and M.document_of(side, params.uri)
      if document then
        side.on_report(document, params.diagnostics, params.version)
      end
    end,
    server_request = function(method, params)
      if method == "client/registerCapability" then
        local registrations = offered(side, params.registrations)
        if #registrations == 0 then
          return vim.NIL
        end
        return dispatchers.server_request(method, { registrations = registrations })
      elseif method == "workspace/diagnostic/refresh" then
        for _, document in pairs(side.documents) do
          side.on_change(document)
        end
        return vim.NIL
      end
      local answer = ANSWERS[method]
      if answer ~= nil then
        return answer
      end
      return dispatchers.server_request(method, params)
    end,
    -- Neovim calls these where most of its API is forbidden.
    on_error = vim.schedule_wrap(function(code, message)
      local text = "a language server of a proposal: error %s: %s"
      require("claude-code.messages.log").warn(text, tostring(code), vim.inspect(message))
    end),
    on_exit = function(code)
      vim.schedule(function()
        side.on_exit(code)
      end)
      -- Neovim would show a message about any other code.
      dispatchers.on_exit(0, 0)
    end,
  }
end

---The command of a server, with an absolute program: the current folder may be another one than that
---in which the user's own server was started.
---@param cmd string[]|function of a client's configuration
---@return string[]|function? cmd
---@return string? message why the server is not started
function M.command(cmd)
  if type(cmd) == "function" then
    return cmd
  end
  local program, message = cmd[1], nil
  if not program:find("[/\\]") then
    program, message = require("claude-code.programs").on_path(program)
  elseif not vim.startswith(vim.fs.normalize(program), "/") and not program:find("^%a:") then
    return nil, ("`%s` is not an absolute path"):format(program)
  end
  return program and vim.list_extend({ program }, cmd, 2), message
end

---@param config vim.lsp.ClientConfig of the server that is copied
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
local function start(config, dispatchers)
  local command = assert(M.command(config.cmd))
  if type(command) == "function" then
    return command(dispatchers, config)
  end
  return vim.lsp.rpc.start(command, dispatchers, {
    cwd = config.cmd_cwd,
    env = config.cmd_env,
    detached = config.detached,
  })
end

---For `cmd` of a client's configuration.
---@param config vim.lsp.ClientConfig of the server that is copied
---@param side claude-code.LspSide
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers): vim.lsp.rpc.PublicClient
function M.connect(config, side)
  return function(dispatchers)
    local server = start(config, receivers(side, dispatchers))
    side.server = server
    local function request(method, params, callback, notify_reply)
      return server.request(method, for_server(side, params), function(failure, result)
        if method ~= "initialize" then
          return callback(failure, for_neovim(side, result))
        elseif failure or not result then
          -- Neovim would raise an error.
          side.on_exit(1)
          return server.terminate()
        end
        callback(nil, limited(side, result))
      end, notify_reply)
    end
    local function notify(method, params)
      local sent = server.notify(method, for_server(side, params))
      if method == "textDocument/didOpen" or method == "textDocument/didChange" then
        local document = side.documents[params.textDocument.uri]
        if document then
          side.on_change(document)
        end
      end
      return sent
    end
    return {
      request = request,
      notify = notify,
      is_closing = server.is_closing,
      terminate = server.terminate,
    }
  end
end

return M
