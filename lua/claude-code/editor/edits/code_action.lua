--- Lists the code actions of language servers, or gets the edits of one action, in a task.
local api = vim.api
local apply = require("claude-code.editor.edits.apply")
local columns = require("claude-code.editor.columns")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local request = require("claude-code.editor.language.request")
local task = require("claude-code.lib.task")

local CODE_ACTION, RESOLVE = "textDocument/codeAction", "codeAction/resolve"

---Kinds of actions, by the names that Claude may use instead of a title.
local KINDS = { organize_imports = "source.organizeImports", fix_all = "source.fixAll" }

local DISABLED =
  "The user has switched code_action off in Neovim (option language_tools.code_action)."

local M = {}

---@class claude-code.OfferedAction
---@field client vim.lsp.Client
---@field action table CodeAction or Command (LSP 3.17)

---@param row integer? nil: the whole file
---@return table CodeActionParams (LSP 3.17)
local function params_of(buf, row, only, client)
  local first, last = row or 0, row or api.nvim_buf_line_count(buf) - 1
  local line = lines.at(buf, last)
  local column = columns.of_byte(line, #line, client.offset_encoding)
  local diagnostics = {} ---@type table[] Diagnostic[] (LSP 3.17) as servers sent them
  for _, item in ipairs(vim.diagnostic.get(buf, { lnum = row })) do
    table.insert(diagnostics, item.user_data and item.user_data.lsp)
  end
  return {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    range = {
      start = { line = first, character = 0 },
      ["end"] = { line = last, character = column },
    },
    context = { diagnostics = diagnostics, only = only, triggerKind = 1 },
  }
end

---Does the title of an action, such as an import, quote the path of a private file?
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

---@return claude-code.OfferedAction[] without those that only run a command
---@return string? failure of a server
local function offered(buf, row, only)
  local list, failure = {}, nil
  local found = request.all(request.capable(buf, CODE_ACTION), {
    method = CODE_ACTION,
    buf = buf,
    params = function(client)
      return params_of(buf, row, only, client)
    end,
  })
  for _, answer in ipairs(found) do
    failure = failure or answer.failure and answer.client.name .. ": " .. answer.failure
    for _, action in ipairs(type(answer.result) == "table" and answer.result or {}) do
      local is_offered = type(action.title) == "string"
        and not action.disabled
        and (action.edit or not action.command)
      if is_offered and not names_private(action.title, buf) then
        list[#list + 1] = { client = answer.client, action = action }
      end
    end
  end
  return list, failure
end

---Gets the edit of an action, from the server if it came without one.
local function edits_of(entry, buf)
  local client, action = entry.client, entry.action
  local provider = client.server_capabilities.codeActionProvider
  if not action.edit and type(provider) == "table" and provider.resolveProvider then
    local answer = request.all({ client }, { method = RESOLVE, buf = buf, params = action })[1]
    if answer.failure then
      return task.fail("failed", "%s: %s", client.name, answer.failure)
    end
    action = answer.result or action
  end
  local command = type(action.command) == "table" and tostring(action.command.command) or nil
  local edit = { edit = action.edit, encoding = client.offset_encoding, server = client.name }
  return { edits = type(action.edit) == "table" and { edit } or {}, left = command }
end

function M.run(params)
  if not require("claude-code.config").get().language_tools.code_action then
    return task.fail("disabled", DISABLED)
  end
  files.take_over(params.changes)
  local buf, failure = files.file(params.file, params.named)
  if not buf then
    return nil, failure
  end
  local row = params.line and math.min(params.line, api.nvim_buf_line_count(buf)) - 1
  local action, ticks = params.action, apply.ticks()
  local kind = KINDS[action]
  local list, problem = offered(buf, row, kind and { kind } or nil)
  for _, entry in ipairs(list) do
    -- Some servers offer other kinds as well.
    local is_kind = kind and vim.startswith(tostring(entry.action.kind), kind)
    if is_kind or not kind and entry.action.title == action then
      local answer, refusal = edits_of(entry, buf)
      return answer and vim.tbl_extend("error", answer, { ticks = ticks }), refusal
    end
  end
  if problem and (action or #list == 0) then
    return task.fail("failed", "%s", problem)
  elseif action and not kind then
    local text = "No code action %q is offered there. List them first."
    return task.fail("not_found", text, action)
  end
  local shown = vim.tbl_map(function(entry)
    local given = entry.action.kind
    local named = type(given) == "string" and given ~= "" and given or nil
    return { title = entry.action.title, kind = named, server = entry.client.name }
  end, list)
  return { edits = {}, actions = not action and shown or nil }
end

return M
