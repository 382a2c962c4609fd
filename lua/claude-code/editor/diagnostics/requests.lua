--- What language servers need to look at a file, and Neovim does not send by itself.
local call = require("claude-code.lib.lsp").call

local M = {}

---A file was written outside of Neovim, and its buffer shows that now. Some servers check a file only
---when it is saved (rust-analyzer runs cargo then), and Neovim reports only its own writes as saves.
---@param buf integer
function M.did_save(buf)
  for _, client in ipairs(package.loaded["vim.lsp"] and vim.lsp.get_clients({ bufnr = buf }) or {}) do
    local sync = (client.server_capabilities or {}).textDocumentSync
    local save = type(sync) == "table" and sync.save
    if save then
      local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
      if type(save) == "table" and save.includeText then
        params.text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. "\n"
      end
      call(client, "notify", "textDocument/didSave", params)
    end
  end
end

---Neovim pulls diagnostics only for buffers that a window shows (0.10 to 0.12).
---@param buf integer
---@param client vim.lsp.Client
function M.pull_if_hidden(buf, client)
  local provider = (client.server_capabilities or {}).diagnosticProvider
  if not provider or #vim.fn.win_findbuf(buf) > 0 then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
  if type(provider) == "table" and type(provider.identifier) == "string" then
    params.identifier = provider.identifier
  end
  call(client, "request", "textDocument/diagnostic", params, nil, buf)
end

return M
