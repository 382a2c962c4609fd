--- Edits of many files by language servers: computed by Neovim's own function, checked as a whole, then each file is
--- written atomically, and the buffers follow. All in a task.
local api = vim.api
local columns = require("claude-code.editor.columns")
local disk = require("claude-code.editor.edits.disk")
local file_change = require("claude-code.editor.documents.file_change")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local regular_file = require("claude-code.lib.regular_file")
local task = require("claude-code.lib.task")

---Larger files, and more of them, are not the work of a language server.
local MAX_BYTES, MAX_FILES, MAX_TOTAL = 10 * 1024 * 1024, 2000, 50 * 1024 * 1024

local M = {}

---@class claude-code.EditOperation the executable has checked its form
---@field kind "edit"|"create"|"rename"|"delete"
---@field path string real path
---@field new_path? string real path, of a rename
---@field edits? lsp.TextEdit[]
---@field encoding? string in which the edits count columns
---@field version? integer of the text for which the server made them, as Neovim sent it
---@field ignore? boolean leave it, if the file exists, or if one to delete does not

---@class claude-code.AppliedFile
---@field path string
---@field before? string bytes; nil: the file does not exist
---@field after? string
---@field edits integer
---@field from? string path from which it is moved
---@field stat? uv.fs_stat.result
---@field buf? integer loaded
---@field tick? integer
---@field version? integer of the text that the server knows

---Ticks of all loaded buffers of files: what a server is asked about.
---@return table<string, integer> by path
function M.ticks()
  local ticks = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buf) and path.of_buffer(buf)
    if name then
      ticks[path.real(name)] = api.nvim_buf_get_changedtick(buf)
    end
  end
  return ticks
end

---@param text string
---@param ... any for string.format()
local function refuse(text, ...)
  error({ code = "refused", message = text:format(...) }, 0)
end

---@class claude-code.FileSet
---@field by_path table<string, claude-code.AppliedFile>
---@field bytes integer of all files
---@field list claude-code.AppliedFile[]
local Files = {}
Files.__index = Files

---Throws a failure.
---@param name string
---@return claude-code.AppliedFile
function Files:get(name)
  name = path.normal(name)
  local known = self.by_path[name]
  if known then
    return known
  elseif #self.list == MAX_FILES or self.bytes > MAX_TOTAL then
    refuse("More than %d files, or 50 MB, would change.", MAX_FILES)
  end
  local stat = vim.uv.fs_lstat(name)
  local file = { path = name, edits = 0, stat = stat }
  file.before = stat and stat.type == "file" and regular_file.read(name, MAX_BYTES) or nil
  file.buf, file.after = path.loaded_buffer(name), file.before
  file.tick = file.buf and api.nvim_buf_get_changedtick(file.buf)
  self.by_path[name], self.bytes = file, self.bytes + #(file.before or "")
  table.insert(self.list, file)
  task.breathe()
  return file
end

---@param a { line: integer, character: integer }
---@param b { line: integer, character: integer }
local function is_before(a, b)
  return a.line < b.line or a.line == b.line and a.character < b.character
end

---What a server that knows an older text would do: the new name may take only the place of a text with the old one.
---@param edit lsp.TextEdit
---@param renamed? { from: string, to: string }
---@return boolean
local function is_misplaced(buf, edit, encoding, renamed)
  if not renamed or not edit.newText:find(renamed.to, 1, true) then
    return false
  end
  local first, last = edit.range.start, edit.range["end"]
  local from = columns.to_byte(lines.at(buf, first.line), first.character, encoding)
  local to = columns.to_byte(lines.at(buf, last.line), last.character, encoding)
  local ok, replaced = pcall(api.nvim_buf_get_text, buf, first.line, from, last.line, to, {})
  local text = ok and table.concat(replaced, "\n"):lower() or ""
  return text ~= "" and not text:find(renamed.from:lower(), 1, true)
end

---@param operation claude-code.EditOperation
---@param buf integer with the file's lines
---@param renamed? { from: string, to: string }
local function apply_in(operation, buf, renamed)
  local count, last, encoding = api.nvim_buf_line_count(buf), nil, operation.encoding
  local sorted = vim.list_slice(operation.edits)
  table.sort(sorted, function(a, b)
    local x, y = a.range, b.range
    return is_before(x.start, y.start)
      or not is_before(y.start, x.start) and is_before(x["end"], y["end"])
  end)
  for _, edit in ipairs(sorted) do
    local range = edit.range
    if
      range.start.line > count
      or last and is_before(range.start, last)
      or is_misplaced(buf, edit, encoding, renamed)
    then
      local text = "%s has another text than the language server knows. Try again in a moment."
      refuse(text, path.title(operation.path))
    end
    last = range["end"]
  end
  vim.lsp.util.apply_text_edits(operation.edits, buf, encoding)
end

---@param text string
local function is_text(text)
  return not text:find("\0", 1, true) and not text:find("\r[^\n]") and not vim.endswith(text, "\r")
end

---Edits the text in a buffer that no one sees. BOM, line ends and a missing last line end stay.
---@param file claude-code.AppliedFile
---@param operation claude-code.EditOperation
---@param renamed? { from: string, to: string }
local function edit_text(file, operation, renamed)
  local bytes = file.after --[[@as string]]
  local text = lines.parse(bytes)
  if not file_change.is_utf8(bytes) or not is_text(bytes) then
    refuse("%s is not a text in UTF-8.", path.title(file.path))
  end
  -- As servers count: behind the last line end there is one more line.
  local all = text.newline and vim.list_extend(text.lines, { "" }) or text.lines
  local eventignore = vim.o.eventignore
  vim.o.eventignore = "all"
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].fixendofline, vim.bo[buf].endofline = false, false
  api.nvim_buf_set_lines(buf, 0, -1, false, all)
  local ok, failure = pcall(apply_in, operation, buf, renamed)
  all = api.nvim_buf_get_lines(buf, 0, -1, false)
  api.nvim_buf_delete(buf, { force = true })
  vim.o.eventignore = eventignore
  if not ok then
    error(failure, 0)
  end
  file.after, file.edits = lines.join(all, text, false), file.edits + #operation.edits
  if #file.after > MAX_BYTES then
    refuse("%s would have more than 10 MB.", path.title(file.path))
  end
  task.breathe()
end

---@param file claude-code.AppliedFile
---@param operation claude-code.EditOperation
---@return boolean is_needed it does not exist; throws if it does and must not
local function must_be_missing(file, operation)
  if file.after and not operation.ignore then
    refuse("%s exists already.", path.title(file.path))
  end
  return file.after == nil
end

---@param file claude-code.AppliedFile
---@param operation claude-code.EditOperation
local function must_exist(file, operation)
  if not file.after and not (operation.kind == "delete" and operation.ignore) then
    refuse("%s does not exist.", path.title(file.path))
  end
end

---@param all claude-code.FileSet
---@param operation claude-code.EditOperation
---@param renamed? { from: string, to: string }
local function perform(all, operation, renamed)
  local file, kind = all:get(operation.path), operation.kind
  if kind == "create" then
    file.after = must_be_missing(file, operation) and "" or file.after
    return
  end
  must_exist(file, operation)
  if kind == "edit" and #operation.edits > 0 then
    edit_text(file, operation, renamed)
  elseif kind == "delete" then
    file.after = nil
  elseif kind == "rename" then
    local to = all:get(operation.new_path --[[@as string]])
    if to ~= file and must_be_missing(to, operation) then
      to.after, to.edits, to.from = file.after, file.edits, file.from or file.path
      file.after, file.edits = nil, 0
    end
  end
end

---@param file claude-code.AppliedFile
---@param folders string[] of the workspace
---@param ticks table<string, integer>
---@return "private"|"outside"|"irregular"|"unsaved"|"changed"|"read-only"|nil
local function obstacle_of(file, folders, ticks)
  local buf = file.buf
  if privacy.is_private(file.path) or (buf and privacy.hides(buf)) then
    return "private"
  elseif not path.is_in_any(path.real(file.path), folders) or file.path:find("/.git/", 1, true) then
    return "outside"
  elseif file.stat and not file.before then
    return "irregular"
  elseif buf and vim.bo[buf].modified then
    return "unsaved"
  elseif buf and file.version and file.version ~= vim.lsp.util.buf_versions[buf] then
    return "changed"
  elseif buf and ticks[file.path] and ticks[file.path] ~= file.tick then
    return "changed"
  elseif buf and file.before then
    local text = lines.parse(file.before, vim.bo[buf].fileformat ~= "dos")
    local shown = api.nvim_buf_get_lines(buf, 0, -1, false)
    if not lines.are_same(shown, text.lines) then
      return "changed"
    end
  end
  return not disk.is_writable(file.path, file.stat) and "read-only" or nil
end

local SENTENCES = {
  private = "It would change a private file (option privacy.patterns).",
  outside = "%s is not in the workspace.",
  irregular = "%s is not a regular file of at most 10 MB.",
  unsaved = "%s has unsaved changes in Neovim. Try again once they are saved.",
  changed = "The text of %s changed while the language server worked. Try again.",
  ["read-only"] = "%s is read-only.",
}

---@class claude-code.ApplyParams
---@field operations claude-code.EditOperation[]
---@field ticks table<string, integer> when the server was asked
---@field renamed? { from: string, to: string } the names of a symbol
---@field preview? boolean

---@param params claude-code.ApplyParams
---@return claude-code.AppliedFile[] changes sorted by path
local function changes_of(params)
  local all = setmetatable({ by_path = {}, list = {}, bytes = 0 }, Files)
  local operations = params.operations
  -- First, so that no other failure shows anything of a file.
  for _, operation in ipairs(operations) do
    local file = all:get(operation.path)
    file.version = file.version or operation.version
    all:get(operation.new_path or operation.path)
  end
  local folders = require("claude-code.lib.workspace").folders()
  for _, file in ipairs(all.list) do
    local obstacle = obstacle_of(file, folders, params.ticks)
    if obstacle then
      refuse(SENTENCES[obstacle], path.title(file.path))
    end
    task.breathe()
  end
  for _, operation in ipairs(operations) do
    perform(all, operation, params.renamed)
  end
  local changes = vim.tbl_filter(function(file)
    return file.before ~= file.after
  end, all.list)
  table.sort(changes, function(a, b)
    return a.path < b.path
  end)
  return changes
end

---@param text string?
---@return string? exact, which the channel's strings need not be
local function encoded(text)
  return text and vim.base64.encode(text)
end

---@param params claude-code.ApplyParams
---@return { changes: table[], problem?: string }? changes those that are made; `problem`: why others are not
---@return claude-code.Failure?
function M.run(params)
  local ok, changes = pcall(changes_of, params)
  if not ok then
    if type(changes) ~= "table" then
      error(changes, 0)
    end
    return nil, changes
  end
  local problem ---@type string?
  if not params.preview and #changes > 0 then
    local done, failure = disk.write(changes)
    if #done == 0 then
      return nil, { code = "not_written", message = failure }
    end
    changes, problem = done, failure
    files.notify(vim.tbl_map(function(file)
      local change = not file.before and "created" or file.after and "changed" or "deleted"
      return { path = file.path, change = change }
    end, changes))
  end
  return {
    problem = problem,
    changes = vim.tbl_map(function(file)
      return {
        path = file.path,
        before = encoded(file.before),
        after = encoded(file.after),
        edits = file.edits,
        from = file.from,
      }
    end, changes),
  }
end

return M
