--- Hover and definitions in a diff, on lines that the file's own buffer has as well: its language
--- servers are asked about the line that it has there. They see nothing of the proposal.
local api = vim.api
local hunk_keys = require("claude-code.editor.hunks.keys")
local hunks = require("claude-code.editor.hunks")
local notify = require("claude-code.messages.notify")

local TOPIC = "diff.original"

---What a key asks, by the name that it has in vim.lsp.buf.
---@type table<string, string>
local QUESTIONS = { K = "hover", gd = "definition" }

local M = {}

---@return claude-code.Hunk[] from the file's buffer to the other
local function hunks_from(buf, target)
  local old = api.nvim_buf_get_lines(target, 0, -1, false)
  return hunks.between(old, api.nvim_buf_get_lines(buf, 0, -1, false))
end

---@param item vim.quickfix.entry
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

---Shows where a server led to: what is in the file itself, in the buffer on screen.
---@param target integer the file's buffer
---@param list vim.lsp.LocationOpts.OnList
local function show_places(target, list)
  local buf, file = api.nvim_get_current_buf(), api.nvim_buf_get_name(target)
  local changes = hunks_from(buf, target)
  for _, item in ipairs(list.items) do
    if item.filename == file then
      item.bufnr, item.filename = buf, nil
      item.lnum, item.end_lnum = hunks.counterpart(changes, "old", item.lnum), nil
    end
  end
  if #list.items == 1 then
    return jump(list.items[1])
  end
  vim.fn.setqflist({}, " ", { title = list.title, items = list.items })
  vim.cmd("botright copen")
end

---@param results table<integer, { result?: lsp.Hover }> by client
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
  vim.lsp.util.open_floating_preview(lines, "markdown", { focus_id = TOPIC })
end

---@param target? integer the file's buffer
---@return vim.lsp.Client[]
local function clients_for(target, name)
  local is_loaded = package.loaded["vim.lsp"] and target and api.nvim_buf_is_loaded(target)
  local method = "textDocument/" .. name
  return is_loaded and vim.lsp.get_clients({ bufnr = target, method = method }) or {}
end

---@param target integer the file's buffer, in which the cursor is
---@param is_here fun(): boolean is the user still where they asked?
local function request(target, name, is_here)
  if name == "definition" then
    return vim.lsp.buf.definition({
      on_list = function(list)
        if is_here() then
          show_places(target, list)
        end
      end,
    })
  end
  -- Not by vim.lsp.buf.hover, which shows nothing while another buffer is the current one.
  local encoding = clients_for(target, name)[1].offset_encoding
  local params = vim.lsp.util.make_position_params(0, encoding)
  vim.lsp.buf_request_all(target, "textDocument/hover", params, function(results)
    if is_here() then
      show_hover(results)
    end
  end)
end

local function ask(proposal, name)
  local target, title = proposal.target, proposal:title()
  if #clients_for(target, name) == 0 then
    return notify.info(("no language server of %s knows a %s"):format(title, name), TOPIC)
  end
  local buf, cursor = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)
  local line, is_same = hunks.counterpart(hunks_from(buf, target), "new", cursor[1])
  if not is_same then
    return notify.info(("language servers know %s without this change"):format(title), TOPIC)
  end
  api.nvim_buf_call(target, function()
    local view = vim.fn.winsaveview()
    api.nvim_win_set_cursor(0, { line, cursor[2] })
    request(target, name, function()
      return api.nvim_get_current_buf() == buf and api.nvim_buf_is_loaded(target)
    end)
    vim.fn.winrestview(view)
  end)
end

---Has the user mapped the key, for all buffers, to something else than what Neovim offers for it?
local function is_users(key)
  local name = QUESTIONS[key]
  return vim.iter(api.nvim_get_keymap("n")):any(function(mapping)
    local is_neovims = mapping.callback == vim.lsp.buf[name]
      or vim.startswith(mapping.desc or "", "vim.lsp.buf." .. name)
    return mapping.lhs == key and not is_neovims
  end)
end

---What a server showed goes with the diff, whose windows close without the events for which Neovim would
---close it.
local function close_preview(buf)
  local win = api.nvim_buf_is_valid(buf) and vim.b[buf].lsp_floating_preview
  if win and api.nvim_win_is_valid(win) and win ~= api.nvim_get_current_win() then
    pcall(api.nvim_win_close, win, true)
  end
end

---Maps the keys that a client of the file's buffer has an answer for, unless the user, or the diff itself, has
---others there.
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
  for _, buf in ipairs(buffers) do
    hunk_keys.map(buf, "original", entries)
  end
  return function()
    for _, buf in ipairs(buffers) do
      hunk_keys.unmap(buf, "original")
      close_preview(buf)
    end
  end
end

return M
