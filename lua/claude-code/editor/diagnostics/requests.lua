--- What language servers need to look at a file, and Neovim does not send by itself.
local lsp = require("claude-code.lib.lsp")

local COMMAND = "typescript.tsserverRequest"
local CHECKS = { "syntacticDiagnosticsSync", "semanticDiagnosticsSync" }

local M = {}

---A file was written outside of Neovim, and its buffer shows that now. Some servers check a file only
---when it is saved (rust-analyzer runs cargo then), and Neovim reports only its own writes as saves.
---@param buf integer
function M.did_save(buf)
  for _, client in ipairs(lsp.clients({ bufnr = buf })) do
    local sync = (client.server_capabilities or {}).textDocumentSync
    local save = type(sync) == "table" and sync.save
    if save then
      local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
      if type(save) == "table" and save.includeText then
        params.text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. "\n"
      end
      lsp.call(client, "notify", "textDocument/didSave", params)
    end
  end
end

---Neovim pulls diagnostics only for buffers that a window shows (0.10 to 0.12).
---@param buf integer
---@param client vim.lsp.Client
function M.pull_if_out_of_sight(buf, client)
  local provider = (client.server_capabilities or {}).diagnosticProvider
  if not provider or #vim.fn.win_findbuf(buf) > 0 then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
  if type(provider) == "table" and type(provider.identifier) == "string" then
    params.identifier = provider.identifier
  end
  lsp.call(client, "request", "textDocument/diagnostic", params, nil, buf)
end

---@param line integer from 1
local function key(line, code, message)
  return ("%d:%s:%s"):format(line, code, message)
end

---@return string[] keys of the errors and warnings that the server reported last, sorted
local function reported(buf, client)
  local keys = {}
  local namespace = vim.lsp.diagnostic.get_namespace(client.id)
  for _, item in ipairs(vim.diagnostic.get(buf, { namespace = namespace })) do
    if item.severity <= vim.diagnostic.severity.WARN then
      keys[#keys + 1] = key(item.lnum + 1, item.code, item.message)
    end
  end
  table.sort(keys)
  return keys
end

local function ask(buf, client, on_unchanged)
  local tick, keys, answers = vim.api.nvim_buf_get_changedtick(buf), {}, 0
  local function on_answer(err, result)
    local body = not err and type(result) == "table" and result.body
    if type(body) ~= "table" then
      return
    end
    for _, item in ipairs(body) do
      keys[#keys + 1] = key(item.start.line, item.code, item.text)
    end
    answers = answers + 1
    table.sort(keys)
    local is_current = vim.api.nvim_buf_is_loaded(buf)
      and vim.api.nvim_buf_get_changedtick(buf) == tick
    if answers == #CHECKS and is_current and vim.deep_equal(keys, reported(buf, client)) then
      on_unchanged()
    end
  end
  local file = vim.uri_to_fname(vim.uri_from_bufnr(buf))
  for _, check in ipairs(CHECKS) do
    local params = { command = COMMAND, arguments = { check, { file = file } } }
    lsp.call(client, "request", "workspace/executeCommand", params, on_answer, buf)
  end
end

---Language servers on TypeScript's tsserver report nothing on a text for which their list stays as it is:
---typescript-language-server 5.1 where it was empty, vtsls always. They pass requests on to tsserver, which answers
---when it has checked the text. Calls back if the problems are those that were reported last: then no report may come.
---@param buf integer
---@param client vim.lsp.Client that is initialized
---@param on_unchanged fun()
function M.check_by_tsserver(buf, client, on_unchanged)
  local provider = (client.server_capabilities or {}).executeCommandProvider or {}
  if vim.list_contains(provider.commands or {}, COMMAND) then
    ask(buf, client, on_unchanged)
  end
end

return M
