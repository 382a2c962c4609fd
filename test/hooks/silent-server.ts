import { OPENED, type Project } from "./project";

/** A server inside Neovim, for each file that is read. */
const SERVER = `
  local versions = {}
  local sync = { openClose = true, change = 1 }
  local server = require("port").language_server({ textDocumentSync = sync }, {
    notify = function(_, params)
      local document = params and params.textDocument
      if document and document.version then versions[document.uri] = document.version end
    end,
  })
  local id
  vim.api.nvim_create_autocmd("FileType", { callback = function(args)
    id = vim.lsp.start({ name = "silent", cmd = server, root_dir = vim.fn.getcwd() }, { bufnr = args.buf })
  end })
  function _G.publish(path, message, older)
    local diagnostics = message ~= "" and { {
      message = message, severity = 1,
      range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } },
    } } or {}
    local uri = vim.uri_from_fname(path)
    local params = { uri = uri, diagnostics = diagnostics, version = versions[uri] - (older or 0) }
    local method = "textDocument/publishDiagnostics"
    vim.lsp.handlers[method](nil, params, { client_id = id, method = method }, {})
  end
  local servers = { text = true, lua = true }
  ${OPENED}`;

/** From now on each file that is opened has a language server that reports when `publish` says so. */
export async function startSilentServer(project: Project): Promise<void> {
  await project.neovim.lua(SERVER);
}

/**
 * The server reports one error on the first line of a file, or none (""); `older`: on the text so many
 * versions before.
 */
export async function publish(
  project: Project,
  name: string,
  problem: string,
  older = 0,
): Promise<void> {
  await project.neovim.lua("publish(...)", project.path(name), problem, older);
}
