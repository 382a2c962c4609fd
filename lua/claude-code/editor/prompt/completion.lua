--- Completes words of a prompt. It is a language server inside Neovim, so that 'omnifunc', Neovim's own completion and
--- plugins can use it. `@` begins files and symbols, `/` at the beginning of the prompt begins commands and skills, and
--- `{` begins the placeholders of expand.lua.
local columns = require("claude-code.editor.columns")
local lines = require("claude-code.editor.documents.lines")
local mention = require("claude-code.lib.text").mention
local channel = require("claude-code.server.channel")

local M = {}

local KIND = vim.lsp.protocol.CompletionItemKind
---Ask for symbols from this many letters on; take this many from one server; wait this long for them before showing
---files.
local MIN_QUERY, MAX_SYMBOLS, WAIT_MS = 2, 30, 20

---@class claude-code.PromptItem
---@field text string
---@field detail? string

---@class claude-code.PromptWord
---@field text string as typed
---@field range lsp.Range

---@param items claude-code.PromptItem[] filtered and sorted by the executable
local function as_list(items, kind, word)
  local list = { isIncomplete = true, items = {} }
  for i, item in ipairs(items) do
    list.items[i] = {
      label = item.text,
      kind = kind,
      detail = item.detail,
      labelDetails = { description = item.detail },
      -- Otherwise blink.cmp would list paths in `/` before commands.
      score_offset = 100,
      filterText = word.text,
      sortText = ("%04d"):format(i),
      textEdit = { newText = item.text, range = word.range },
    }
  end
  return list
end

local function placeholders(typed)
  local items = {}
  for name, detail in vim.spairs(require("claude-code.editor.prompt.expand").NAMES) do
    local text = ("{%s}"):format(name)
    items[#items + 1] = vim.startswith(text, typed) and { text = text, detail = detail } or nil
  end
  return items
end

local function symbol_item(symbol)
  local location = symbol.location
  local path = location and location.uri and vim.uri_to_fname(location.uri)
  if not path or not location.range or require("claude-code.editor.privacy").is_private(path) then
    return nil
  end
  local first, last = location.range.start.line + 1, location.range["end"].line + 1
  local rows = first == last and tostring(first) or ("%d-%d"):format(first, last)
  local text =
    mention(("%s#L%s"):format(require("claude-code.editor.documents.path").title(path, ":."), rows))
  local shown = text .. tostring(symbol.name)
  if shown:find("%c") or require("claude-code.editor.changes.hidden").next_in(shown) then
    return nil
  end
  return { text = text, detail = symbol.name }
end

---Asks the user's language servers for symbols. Symbols that come late are not used.
local function ask_symbols(query)
  local lsp, found = require("claude-code.lib.lsp"), { items = {}, waiting = 0 }
  local clients = #query >= MIN_QUERY and lsp.clients({ method = "workspace/symbol" }) or {}
  for _, client in ipairs(clients) do
    found.waiting = found.waiting + 1
    lsp.call(client, "request", "workspace/symbol", { query = query }, function(_, symbols)
      found.waiting = found.waiting - 1
      for _, symbol in ipairs(vim.list_slice(symbols or {}, 1, MAX_SYMBOLS)) do
        -- The answer of a server may be invalid.
        local ok, item = pcall(symbol_item, symbol)
        found.items[#found.items + 1] = ok and item or nil
      end
    end)
  end
  return found
end

local function complete_files(word, callback)
  local folder = require("claude-code.lib.workspace").tab_folder(0)
  local typed = word.text:gsub('^@"?', "")
  local symbols = ask_symbols(typed)
  channel.request("prompt/files", { folder = folder, word = typed }, function(files)
    for _, item in ipairs(files or {}) do
      item.text = mention(item.text)
    end
    local function answer()
      local list = as_list(files or {}, KIND.File, word)
      vim.list_extend(list.items, as_list(symbols.items, KIND.Function, word).items)
      callback(nil, list)
    end
    require("claude-code.lib.timer").once(symbols.waiting > 0 and WAIT_MS or 0, answer)
  end)
end

local function complete(buf, params, callback)
  local row = params.position.line
  local line = lines.at(buf, row)
  local before = line:sub(1, columns.to_byte(line, params.position.character, "utf-16"))
  local file = before:match('%f[^%s%z](@"[^"]*)$') or before:match("%f[^%s%z](@%S*)$")
  local placeholder = before:match("({%l*)$")
  local text = file or placeholder or row == 0 and before:match("^(/[%w:_-]*)$")
  if not text then
    return callback(nil, { isIncomplete = false, items = {} })
  end
  local start = columns.of_byte(line, #before - #text, "utf-16")
  local range = { start = { line = row, character = start }, ["end"] = params.position }
  local word = { text = text, range = range }
  if file then
    return complete_files(word, callback)
  elseif placeholder then
    return callback(nil, as_list(placeholders(text), KIND.Variable, word))
  end
  require("claude-code.terminal.slash").list(text, function(items)
    callback(nil, as_list(items, KIND.Keyword, word))
  end)
end

local CAPABILITIES = {
  completionProvider = { triggerCharacters = { "@", "/", "{", "#" } },
  textDocumentSync = 0,
}

local function server(buf, dispatchers)
  local is_closing, id = false, 0
  local function close()
    if not is_closing then
      is_closing = true
      dispatchers.on_exit(0, 0)
    end
  end
  return {
    request = function(method, params, callback)
      id = id + 1
      -- Neovim refuses changes of the text during 'omnifunc' (E565), so answer later.
      local answer = vim.schedule_wrap(callback)
      if method == "initialize" then
        callback(nil, { capabilities = CAPABILITIES })
      elseif method == "textDocument/completion" then
        complete(buf, params, answer)
      else
        answer(nil, nil)
      end
      return true, id
    end,
    notify = function(method)
      if method == "exit" then
        close()
      end
      return true
    end,
    is_closing = function()
      return is_closing
    end,
    terminate = close,
  }
end

function M.attach(buf)
  local config = { name = "claude-code-prompt" }
  function config.cmd(dispatchers)
    return server(buf, dispatchers)
  end
  local id = vim.lsp.start(config, {
    bufnr = buf,
    reuse_client = function()
      return false
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      local client = vim.lsp.get_client_by_id(id)
      if client then
        require("claude-code.lib.lsp").call(client, "stop", true)
      end
    end,
  })
end

return M
