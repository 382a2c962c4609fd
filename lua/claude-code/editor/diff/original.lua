--- Hover and definitions in a diff, on lines that the file's own buffer has, too. We ask its language servers about the
--- line there: they do not know the proposal.
local api = vim.api
local columns = require("claude-code.editor.columns")
local hunk_keys = require("claude-code.editor.changes.keys")
local hunks = require("claude-code.editor.changes.hunks")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")

local TOPIC = "diff.original"

---Requests of vim.lsp.buf by their keys.
---@type table<string, string>
local QUESTIONS = { K = "hover", gd = "definition" }

local M = {}

local function hunks_from(buf, target)
  local old = api.nvim_buf_get_lines(target, 0, -1, false)
  return hunks.between(old, api.nvim_buf_get_lines(buf, 0, -1, false))
end

local function jump(item)
  local buf = item.bufnr or vim.fn.bufadd(item.filename)
  vim.cmd("normal! m'")
  if buf ~= api.nvim_get_current_buf() then
    vim.bo[buf].buflisted = true
    api.nvim_win_set_buf(0, buf)
  end
  api.nvim_win_set_cursor(0, { item.lnum, item.col - 1 })
  vim.cmd("normal! zv")
end

---Shows the places that servers named; those in the file itself in the buffer on screen.
---@param results table<integer, { result?: any }> by client
---@param target integer the file's buffer
local function show_places(results, target)
  local buf, file, items = api.nvim_get_current_buf(), path.of_buffer(target), {}
  for id, answer in pairs(results) do
    local places, client = answer.result or {}, assert(vim.lsp.get_client_by_id(id))
    places = vim.islist(places) and places or { places }
    vim.list_extend(items, vim.lsp.util.locations_to_items(places, client.offset_encoding))
  end
  local changes = hunks_from(buf, target)
  for _, item in ipairs(items) do
    if path.normal(item.filename) == file then
      item.bufnr, item.filename = buf, nil
      item.lnum, item.end_lnum = hunks.counterpart(changes, "old", item.lnum), nil
    end
  end
  if #items == 0 then
    return notify.info("no definition found", TOPIC)
  elseif #items == 1 then
    return jump(items[1])
  end
  vim.fn.setqflist({}, " ", { title = "LSP definitions", items = items })
  vim.cmd("botright copen")
end

local function show_hover(results)
  local lines = {}
  for _, answer in pairs(results) do
    if answer.result then
      lines = vim.lsp.util.convert_input_to_markdown_lines(answer.result.contents, lines)
    end
  end
  if #lines == 0 then
    return notify.info("no information available", TOPIC)
  end
  local is_deep = require("claude-code.editor.documents.parsing").is_deep(lines)
  local syntax = is_deep and "plaintext" or "markdown"
  vim.lsp.util.open_floating_preview(lines, syntax, { focus_id = TOPIC })
end

local function clients_for(target, name)
  local is_loaded = package.loaded["vim.lsp"] and target and api.nvim_buf_is_loaded(target)
  local method = "textDocument/" .. name
  return is_loaded and vim.lsp.get_clients({ bufnr = target, method = method }) or {}
end

---vim.lsp.buf would ask about the current buffer, and shows nothing while another one is current.
local function ask(proposal, name)
  local target, title = proposal.target, proposal:title()
  local clients = clients_for(target, name)
  if #clients == 0 then
    return notify.info(("no language server of %s knows a %s"):format(title, name), TOPIC)
  end
  local buf, row, col = api.nvim_get_current_buf(), unpack(api.nvim_win_get_cursor(0))
  local line, is_same = hunks.counterpart(hunks_from(buf, target), "new", row)
  if not is_same then
    return notify.info(("language servers know %s without this change"):format(title), TOPIC)
  end
  local function params_for(client)
    return {
      textDocument = { uri = vim.uri_from_bufnr(target) },
      position = {
        line = line - 1,
        character = columns.of_byte(api.nvim_get_current_line(), col, client.offset_encoding),
      },
    }
  end
  -- TODO(0.10): all servers get the columns of the first one, as by Neovim's own `gd` there.
  local params = vim.fn.has("nvim-0.11") == 1 and params_for or params_for(clients[1])
  vim.lsp.buf_request_all(target, "textDocument/" .. name, params, function(results)
    if api.nvim_get_current_buf() == buf and api.nvim_buf_is_loaded(target) then
      local show = name == "hover" and show_hover or show_places
      show(results, target)
    end
  end)
end

---Has the user mapped the key globally, to anything but Neovim's own function?
local function is_users(key)
  local name = QUESTIONS[key]
  return vim.iter(api.nvim_get_keymap("n")):any(function(mapping)
    local is_neovims = mapping.callback == vim.lsp.buf[name]
      or vim.startswith(mapping.desc or "", "vim.lsp.buf." .. name)
    return mapping.lhs == key and not is_neovims
  end)
end

---Maps the keys that a language server can answer, unless the user or the diff has mapped them.
---@param proposal claude-code.Proposal on screen
---@return fun() unmap
function M.map(proposal)
  local buffers, entries = proposal:buffers(), {} ---@type integer[], claude-code.Key[]
  for key, name in pairs(QUESTIONS) do
    if #clients_for(proposal.target, name) > 0 and not is_users(key) then
      entries[#entries + 1] = {
        keys = key,
        desc = ("LSP %s, of the file"):format(name),
        run = function()
          ask(proposal, name)
        end,
      }
    end
  end
  local unmap = hunk_keys.map(buffers, "original", entries)
  return function()
    unmap()
    -- The diff's windows close without the events by which Neovim closes a server's float.
    for _, buf in ipairs(buffers) do
      local win = api.nvim_buf_is_valid(buf) and vim.b[buf].lsp_floating_preview
      if win and api.nvim_win_is_valid(win) and win ~= api.nvim_get_current_win() then
        pcall(api.nvim_win_close, win, true)
      end
    end
  end
end

return M
