--- Asks language servers for the edits of a rename, in a task.
local apply = require("claude-code.editor.edits.apply")
local files = require("claude-code.editor.language.files")
local find = require("claude-code.editor.language.find")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local symbols = require("claude-code.editor.language.symbol")
local task = require("claude-code.lib.task")

local RENAME = "textDocument/rename"
local DISABLED = "The user has switched rename_symbol off in Neovim (option language_tools.rename)."

local M = {}

---Moves to the definition: at a use, typescript-language-server would rename only the local name of an import. Ignores
---a definition with another name (`import { a as b }`).
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

---Takes the edits of the first server that can rename the symbol, since two would edit the same places twice.
local function rename(symbol, new_name)
  local reasons, ticks = {}, apply.ticks()
  for _, client in ipairs(request.capable(symbol.buf, RENAME)) do
    local is_ready = request.state_of(client).state == "idle"
    local question = position.question(symbol, RENAME, { newName = new_name })
    local answer = request.all({ client }, question)[1]
    if not is_ready or request.state_of(client).state ~= "idle" then
      local text = "Not ready: %s is indexing, and may not know every use of `%s` yet. "
        .. "Nothing was changed. Ask again in 10 s."
      return task.fail("not_ready", text, client.name, symbol.name)
    elseif type(answer.result) == "table" then
      local edit = { edit = answer.result, encoding = client.offset_encoding, server = client.name }
      return { edits = { edit }, ticks = ticks, name = symbol.name }
    end
    reasons[#reasons + 1] = client.name .. ": " .. (answer.failure or "it cannot be renamed")
  end
  if #reasons > 0 then
    return task.fail("refused", "`%s` is not renamed. %s", symbol.name, table.concat(reasons, "; "))
  end
  local file = path.title(vim.api.nvim_buf_get_name(symbol.buf), ":.")
  return task.fail("unsupported", "No language server of %s can rename symbols.", file)
end

function M.symbol(params)
  if not require("claude-code.config").get().language_tools.rename then
    return task.fail("disabled", DISABLED)
  end
  local symbol, failure = symbols.find(params)
  if not symbol then
    return nil, failure
  elseif symbol.candidates then
    return { edits = {}, candidates = position.answer(symbol.candidates) }
  elseif #symbol.definitions == 0 then
    return nil, find.unknown(symbol)
  end
  return rename(at_definition(symbol), params.new_name)
end

return M
