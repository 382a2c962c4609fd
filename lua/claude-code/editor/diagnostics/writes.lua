--- Follows what is written and reloaded: language servers are expected to report on it.
local api, uv = vim.api, vim.uv
local pending = require("claude-code.editor.diagnostics.pending")
local reports = require("claude-code.editor.diagnostics.reports")
local servers = require("claude-code.editor.diagnostics.servers")

---For a save of a text that the server has reported on already: only a check on save changes that.
local SAVE_TIMEOUT_MS = 1000
---A configuration may look for the project's root first, with a program even, and then start its server.
local ATTACH_MS = 1000

local M = {}

local group ---@type integer?
---Who follows, and what each does after a reload.
local followers = {} ---@type table<table, fun(buf: integer)>
---When each buffer's text was replaced last, and its tick: servers that attach soon report on it too.
---@type table<integer, { at: number, tick: integer, kind: claude-code.WriteKind }>
local replaced = {}
---When any was, in ms. It may change what is wrong in others.
local last_replaced = 0
---The buffers' ticks at the last report, by buffer and client.
local reported = {} ---@type table<integer, table<integer, integer>>

local function now_ms()
  return uv.hrtime() / 1e6
end

---@param buf integer
---@param client vim.lsp.Client
---@param kind claude-code.WriteKind
---@param is_known? boolean the server has reported on this text
local function expect(buf, client, kind, is_known)
  if not servers.gives_diagnostics(client) then
    return
  end
  pending.add(buf, client, kind, is_known and SAVE_TIMEOUT_MS or servers.TIMEOUT_MS)
  if not client.initialized then
    return
  elseif kind ~= "saved" then
    require("claude-code.editor.diagnostics.requests").pull_if_hidden(buf, client)
  end
  require("claude-code.editor.diagnostics.requests").check_by_tsserver(buf, client, function()
    pending.on_unchanged(buf, client.id)
  end)
end

---A buffer's file has new contents on disk: a report is expected of each of its servers.
---@param buf integer
---@param kind claude-code.WriteKind
function M.on_write(buf, kind)
  if not group then
    return
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  last_replaced = now_ms()
  replaced[buf] = { at = last_replaced, tick = tick, kind = kind }
  if not package.loaded["vim.lsp"] then
    return
  end
  reports.wrap_handlers()
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })) do
    local is_known = kind == "saved" and (reported[buf] or {})[client.id] == tick
    expect(buf, client, kind, is_known)
  end
  pending.review()
end

---Servers that were started for the buffer after its text was replaced: no event reports them until
---they are ready.
---@param buf integer
function M.expect_starting(buf)
  if not group or not replaced[buf] or not package.loaded["vim.lsp"] then
    return
  end
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })) do
    if not client.initialized and not pending.is_expected(buf, client.id) then
      expect(buf, client, "opened")
    end
  end
  pending.review()
end

---May a server still be started for the buffer, which has just been loaded?
---TODO(0.11): vim.lsp.get_configs() came with 0.12.
---@param buf integer
---@return boolean
function M.is_attaching(buf)
  local text = group and replaced[buf]
  local is_new = text and text.kind == "opened" and now_ms() - text.at < ATTACH_MS
  if not is_new or not package.loaded["vim.lsp"] or not vim.lsp.get_configs then
    return false
  end
  local filter = { enabled = true, filetype = vim.bo[buf].filetype }
  return #vim.lsp.get_configs(filter) > 0
    and #vim.lsp.get_clients({ bufnr = buf, _uninitialized = true }) == 0
end

---@param buf integer
---@param id integer client
local function on_attach(buf, id)
  local client, text = vim.lsp.get_client_by_id(id), replaced[buf]
  reports.wrap_handlers()
  if not client or not text then
    return
  elseif now_ms() - text.at < servers.TIMEOUT_MS or pending.lacks(buf, client) then
    pending.remove(buf, id)
    expect(buf, client, "opened")
    pending.review()
  end
end

---@param report claude-code.Report
local function on_report(report)
  local id, buf = report.client, report.buf
  local tick, text = api.nvim_buf_get_changedtick(buf), replaced[buf]
  local took = text and text.tick == tick and now_ms() - last_replaced or nil
  reported[buf] = reported[buf] or {}
  reported[buf][id] = tick
  servers.learn(report, took)
  pending.on_report(report)
end

---A reload closes the text for language servers, and opens it with the version it had (measured with
---Neovim 0.12; 0.10 always says 0): a late report on the text before would look like one on the new
---text. Neovim counts versions by the buffer's ticks, of which a reload takes one.
---@param buf integer about to be read; servers have it only if it was read before
local function renumber(buf)
  if package.loaded["vim.lsp"] and next(vim.lsp.get_clients({ bufnr = buf })) then
    vim.lsp.util.buf_versions[buf] = api.nvim_buf_get_changedtick(buf) + 1
  end
end

local function watch()
  group = api.nvim_create_augroup("claude-code.writes", { clear = true })
  local function on(event, callback)
    api.nvim_create_autocmd(event, {
      group = group,
      callback = function(args)
        callback(args.buf, (args.data or {}).client_id)
      end,
    })
  end
  on("BufReadPre", renumber)
  on("BufWritePost", function(buf)
    M.on_write(buf, "saved")
  end)
  on("FileChangedShellPost", function(buf)
    M.on_write(buf, "reloaded")
    for _, on_reload in pairs(followers) do
      on_reload(buf)
    end
  end)
  on("LspAttach", on_attach)
  on("LspDetach", function(buf, id)
    if servers.is_running(id) then
      pending.remove(buf, id)
    end
    pending.review()
  end)
  on("BufWipeout", function(buf)
    replaced[buf], reported[buf] = nil, nil
    vim.schedule(pending.review)
  end)
end

local function stop()
  api.nvim_del_augroup_by_id(group)
  group = nil
  reports.stop()
  pending.clear()
  replaced, reported = {}, {}
end

---Begins to follow, if no other caller does.
---@param on_reload? fun(buf: integer) a buffer was reloaded: its servers have not seen the new text yet
---@return fun() cancel
function M.follow(on_reload)
  if not group then
    servers.start()
    reports.start(on_report)
    watch()
  end
  local follower = {}
  followers[follower] = on_reload or function() end
  return function()
    followers[follower] = nil
    if group and next(followers) == nil then
      stop()
    end
  end
end

return M
