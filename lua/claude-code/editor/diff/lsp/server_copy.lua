--- A language server of a proposal: the server of its file, started a second time. It has the
--- proposal open under the name of the file, so that imports, project settings and definitions are those
--- of the file, and nothing is declared twice. The user's own server learns nothing of a proposal.
local api = vim.api
local rpc = require("claude-code.editor.diff.lsp.rpc")
local timer = require("claude-code.lib.timer")

---From an edit of the proposal to the question for its diagnostics, of a server that must be asked.
local PULL_MS = 250
local FILE_CHANGED = 2

---@class claude-code.ServerCopy
---@field name string of the original
---@field private original integer its id
---@field private config vim.lsp.ClientConfig
---@field private side claude-code.LspSide
---@field private client? integer id, once it was started
---@field private reports table<integer, claude-code.LspProblems> by buffer
---@field private pull? table options of its diagnostics
---@field private pulls table<integer, fun()> timers by buffer
---@field private written string[] files that were accepted, and are written by now or soon
---@field private cancel_end? fun()
local Copy = {}
Copy.__index = Copy

local M = {
  ---A copy that no proposal needs ends after this: Claude often proposes several edits in a row.
  KEEP_MS = 120000,
}

---@type table<integer, claude-code.ServerCopy> by the id of the original
local copies = {}
---The originals that cannot run twice, by id.
---@type table<integer, true>
local failed = {}

local GROUP = api.nvim_create_augroup("claude-code.diff.lsp", { clear = true })

---TODO(0.10): with 0.11 these became methods.
---@param client vim.lsp.Client
local function stop_client(client)
  if vim.fn.has("nvim-0.11") == 1 then
    client:stop()
  else
    client.stop()
  end
end

---@param paths string[]
local function report_files(copy, paths)
  local changes = vim.tbl_map(function(path)
    return { uri = vim.uri_from_fname(path), type = FILE_CHANGED }
  end, paths)
  if #changes > 0 and copy:is_initialized() then
    copy.side.server.notify("workspace/didChangeWatchedFiles", { changes = changes })
  end
end

---A copy that stays reads files again that were written in the meantime.
local function watch_files()
  api.nvim_create_autocmd({ "BufWritePost", "FileChangedShellPost" }, {
    group = GROUP,
    callback = function(args)
      local path = require("claude-code.editor.documents.path").of_buffer(args.buf)
      for _, copy in pairs(path and copies or {}) do
        report_files(copy, { path })
      end
    end,
  })
  api.nvim_create_autocmd("User", {
    group = GROUP,
    pattern = "ClaudeCodeDiffAccepted",
    callback = function(args)
      for _, copy in pairs(copies) do
        table.insert(copy.written, args.data.path)
      end
    end,
  })
end

---@param original vim.lsp.Client
---@return claude-code.ServerCopy? copy nil if one ended with an error before
function M.of(original)
  local copy = copies[original.id]
  if copy or failed[original.id] then
    return copy
  end
  local _, message = rpc.command(original.config.cmd)
  if message then
    failed[original.id] = true
    local log = require("claude-code.messages.log")
    return log.warn("%s is not started for proposals: %s", original.name, message)
  end
  if next(copies) == nil then
    watch_files()
  end
  copy = setmetatable(
    { name = original.name, original = original.id, reports = {}, pulls = {}, written = {} },
    Copy
  )
  copy.side = copy:make_side()
  -- Its own: `on_init` of a configuration may change them.
  local settings = next(original.settings or {}) and vim.deepcopy(original.settings) or nil
  copy.config = vim.tbl_extend("force", original.config, {
    -- Another name: vim.lsp.start() would take a client of the same one for the user's files.
    name = original.name .. " (proposal)",
    cmd = rpc.connect(original.config, copy.side),
    root_dir = original.root_dir or original.config.root_dir,
    workspace_folders = original.workspace_folders,
    settings = settings,
  })
  copy.config.on_exit, copy.config.on_error = nil, nil
  copies[original.id] = copy
  return copy
end

---Is this client one of the copies?
---@param id integer
---@return boolean
function M.is_copy(id)
  return vim.iter(pairs(copies)):any(function(_, copy)
    return copy.client == id
  end)
end

---@private
---@return claude-code.LspSide
function Copy:make_side()
  return {
    documents = {},
    on_report = function(document, items)
      self:report(document, items)
    end,
    on_change = function(document)
      self:pull_soon(document)
    end,
    on_pull = function(options)
      self.pull = options
      for _, document in pairs(self.side.documents) do
        self:pull_soon(document)
      end
    end,
    on_exit = function(code)
      self:forget()
      if code ~= 0 then
        failed[self.original] = true
        local log = require("claude-code.messages.log")
        log.warn("%s, started for a proposal, ended with exit code %d", self.name, code)
      end
    end,
  }
end

---@private
---@return boolean
function Copy:is_initialized()
  local client = self.client and vim.lsp.get_client_by_id(self.client)
  return client ~= nil and client.initialized == true
end

---@private
---@param document claude-code.LspDocument
---@param items lsp.Diagnostic[]
function Copy:report(document, items)
  local client = self.client and vim.lsp.get_client_by_id(self.client)
  local problems = self.reports[document.buf]
  if client and problems then
    problems:set(self.name, items, client.offset_encoding or "utf-16")
  end
end

---@private
---@param document claude-code.LspDocument
function Copy:pull_soon(document)
  if not self.pull then
    return
  elseif self.pulls[document.buf] then
    self.pulls[document.buf]()
  end
  self.pulls[document.buf] = timer.once(PULL_MS, function()
    self.side.server.request("textDocument/diagnostic", {
      textDocument = { uri = document.file_uri },
      identifier = self.pull.identifier,
    }, function(_, result)
      if type(result) == "table" and result.kind == "full" then
        self:report(document, result.items)
      end
    end)
  end)
end

---Opens a proposal.
---@param buf integer
---@param path string of its file, as Neovim names it
---@param problems claude-code.LspProblems
function Copy:open(buf, path, problems)
  if self.cancel_end then
    self.cancel_end()
    self.cancel_end = nil
  end
  report_files(self, self.written)
  self.written = {}
  local uri, file_uri = vim.uri_from_bufnr(buf), vim.uri_from_fname(path)
  local real = vim.uv.fs_realpath(path)
  self.side.documents[uri] = { uri = uri, file_uri = file_uri, path = path, real = real, buf = buf }
  self.reports[buf] = problems
  self.client = vim.lsp.start(self.config, {
    bufnr = buf,
    silent = true,
    reuse_client = function(client)
      return client.id == self.client and not client.is_stopped(client)
    end,
  })
end

---@param buf integer
function Copy:close(buf)
  if self.pulls[buf] then
    self.pulls[buf]()
    self.pulls[buf] = nil
  end
  if self.client and vim.lsp.buf_is_attached(buf, self.client) then
    vim.lsp.buf_detach_client(buf, self.client)
  end
  self.reports[buf] = nil
  for uri, document in pairs(self.side.documents) do
    if document.buf == buf then
      self.side.documents[uri] = nil
    end
  end
  if next(self.side.documents) == nil then
    self.cancel_end = timer.once(M.KEEP_MS, function()
      self:stop()
    end)
  end
end

---@private
function Copy:forget()
  if copies[self.original] == self then
    copies[self.original] = nil
  end
  if next(copies) == nil then
    api.nvim_clear_autocmds({ group = GROUP })
  end
end

---@private
function Copy:stop()
  self:forget()
  local client = self.client and vim.lsp.get_client_by_id(self.client)
  if client then
    stop_client(client)
  end
end

return M
