--- Language servers in a proposal: hover, definitions, references, completion and problems.
local api = vim.api
local timer = require("claude-code.lib.timer")

---A diff that is answered at once starts no server, and its windows never wait for one.
local DELAY_MS = 150
---A proposal beyond this size, in bytes, gets no servers: it would be sent whole.
local SIZE_LIMIT = 512 * 1024

local PROVIDERS = { "hoverProvider", "definitionProvider", "diagnosticProvider" }

local M = {}

---@param client vim.lsp.Client
---@return boolean can it say anything about a text?
local function is_useful(client)
  local capabilities = client.server_capabilities or {}
  return client.initialized == true
    and vim.iter(PROVIDERS):any(function(name)
      return capabilities[name] ~= nil and capabilities[name] ~= false
    end)
end

---@param client vim.lsp.Client
---@param path string
---@param filetype string
---@return boolean would it serve this file, if a buffer held it?
local function serves(client, path, filetype)
  local root = client.config.root_dir
  return type(root) == "string"
    and vim.startswith(path, root .. "/")
    and vim.tbl_contains(client.config.filetypes or {}, filetype)
end

---The language servers of the proposal's file; of a file that no buffer holds, those of its project.
---@param proposal claude-code.Proposal
---@return vim.lsp.Client[]
local function servers_of(proposal)
  local excluded = require("claude-code.config").get().diff.lsp.exclude
  local is_copy = require("claude-code.editor.diff.lsp.server_copy").is_copy
  local filetype = vim.bo[proposal.new_buf].filetype
  return vim.tbl_filter(function(client)
    local attached = proposal.target and client.attached_buffers[proposal.target]
    local wanted = attached or (not proposal.target and serves(client, proposal.new_path, filetype))
    return wanted
      and is_useful(client)
      and not is_copy(client.id)
      and not vim.tbl_contains(excluded, client.name)
  end, vim.lsp.get_clients())
end

---@param proposal claude-code.Proposal
---@return boolean
local function is_wanted(proposal)
  local buf = proposal.new_buf --[[@as integer]]
  return package.loaded["vim.lsp"] ~= nil
    and require("claude-code.config").get().diff.lsp.enabled
    and api.nvim_buf_is_loaded(buf)
    and api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) <= SIZE_LIMIT
end

---'tagfunc' finds the definition, but a tag leads to a file alone (E429), not to the proposal.
---@param buf integer
local function map_definition(buf)
  if api.nvim_buf_is_valid(buf) and vim.bo[buf].tagfunc == "v:lua.vim.lsp.tagfunc" then
    vim.keymap.set("n", "<C-]>", vim.lsp.buf.definition, { buffer = buf, desc = "Definition" })
  end
end

---What a server showed of the proposal goes with the diff, whose windows close without the events for
---which Neovim would close it.
---@param buf integer
local function close_preview(buf)
  local win = api.nvim_buf_is_valid(buf) and vim.b[buf].lsp_floating_preview
  if win and api.nvim_win_is_valid(win) and win ~= api.nvim_get_current_win() then
    pcall(api.nvim_win_close, win, true)
  end
end

---@param proposal claude-code.Proposal
---@param attached fun() a server was attached: others may have mapped keys then
---@return fun()? stop
local function attach(proposal, attached)
  local servers = is_wanted(proposal) and servers_of(proposal) or {}
  if #servers == 0 then
    return
  end
  local buf = proposal.new_buf --[[@as integer]]
  local path = proposal.target and api.nvim_buf_get_name(proposal.target) or proposal.new_path
  local problems = require("claude-code.editor.diff.lsp.problems").new(buf)
  local on_attach = api.nvim_create_autocmd("LspAttach", {
    buffer = buf,
    callback = vim.schedule_wrap(function()
      map_definition(buf)
      attached()
    end),
  })
  local copies = {}
  for _, server in ipairs(servers) do
    local copy = require("claude-code.editor.diff.lsp.server_copy").of(server)
    if copy then
      copies[#copies + 1] = copy
      copy:open(buf, path, problems)
    end
  end
  return function()
    pcall(api.nvim_del_autocmd, on_attach)
    close_preview(buf)
    for _, copy in ipairs(copies) do
      copy:close(buf)
    end
    problems:stop()
  end
end

---Attaches the file's language servers to a proposal that is on screen, a moment later.
---@param proposal claude-code.Proposal
---@param attached fun()
---@return fun() stop
function M.follow(proposal, attached)
  local stop
  stop = timer.once(DELAY_MS, function()
    stop = attach(proposal, attached) or function() end
  end)
  return function()
    stop()
  end
end

return M
