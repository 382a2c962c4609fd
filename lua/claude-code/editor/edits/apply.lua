--- Applies edits of language servers, in a task: computes and checks all edits first, then writes each file atomically
--- and reloads its buffer.
local api, uv = vim.api, vim.uv
local columns = require("claude-code.editor.columns")
local file_change = require("claude-code.editor.documents.file_change")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local regular_file = require("claude-code.lib.regular_file")
local reload = require("claude-code.editor.documents.reload")
local sort = require("claude-code.lib.sort")
local task = require("claude-code.lib.task")

---No language server edits larger files, or more of them.
local MAX_BYTES, MAX_FILES, MAX_TOTAL = 10 * 1024 * 1024, 2000, 50 * 1024 * 1024
---Edits in all files: sorting the edits of one file blocks Neovim.
local MAX_EDITS = 50000

local M = {}

---@class claude-code.AppliedFile
---@field path string
---@field before string bytes
---@field after string
---@field edits integer
---@field stat uv.fs_stat.result
---@field buf? integer loaded
---@field tick? integer

---@return table<string, integer> ticks of all loaded buffers of files, by path
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

local function refuse(text, ...)
  error({ code = "refused", message = text:format(...) }, 0)
end

---Does an edit put the new name in place of something other than the old one? Then the server knows an older text.
---@param renamed? { from: string, to: string }
local function is_misplaced(replaced, new, renamed)
  return renamed ~= nil
    and replaced ~= ""
    and new:find(renamed.to, 1, true) ~= nil
    and not replaced:lower():find(renamed.from:lower(), 1, true)
end

---@param all string[] lines, including an empty one after the last line end, which servers count
---@return string? text nil if the edits were made for another text
local function edited(all, edits, encoding, renamed)
  local text, begins, size = table.concat(all, "\n"), {}, 0
  for i, line in ipairs(all) do
    begins[i], size = size, size + #line + 1
  end
  local function offset(place)
    local line, begin = all[place.line + 1], begins[place.line + 1]
    return line and begin + columns.to_byte(line, place.character, encoding) or #text
  end
  local sorted = {}
  for i, edit in ipairs(edits) do
    local start, stop, new = edit.range.start, edit.range["end"], edit.newText:gsub("\r\n?", "\n")
    local last_line = all[stop.line + 1]
    if start.line > #all then
      return nil
    end
    -- Neovim does the same: a server may count a carriage return; then its newline is the line's own.
    if last_line and stop.character > #last_line then
      new = new:gsub("\n$", "")
    elseif start.line == #all then
      new = "\n" .. new
    end
    sorted[i] = { first = offset(start), last = offset(stop), new = new, index = i }
    task.breathe()
  end
  local parts, at = {}, 0
  for _, edit in ipairs(sort(sorted, "first", "last", "index")) do
    local is_overlap = edit.first < at or edit.last < edit.first
    if is_overlap or is_misplaced(text:sub(edit.first + 1, edit.last), edit.new, renamed) then
      return nil
    end
    vim.list_extend(parts, { text:sub(at + 1, edit.first), edit.new })
    at = edit.last
    task.breathe()
  end
  return table.concat(parts) .. text:sub(at + 1)
end

---Edits the text, and keeps its BOM, its line ends, and a missing last line end.
local function edit_text(file, edit, renamed)
  local name, text = path.title(file.path), lines.parse(file.after)
  local has_return = file.after:find("\r[^\n]") or vim.endswith(file.after, "\r")
  if has_return or file.after:find("\0", 1, true) or not file_change.is_utf8(file.after) then
    refuse("%s is not a text in UTF-8.", name)
  end
  local all = text.newline and vim.list_extend(text.lines, { "" }) or text.lines
  local now = edited(all, edit.edits, edit.encoding, renamed)
  if not now then
    refuse(
      "The text of %s differs from what the language server knows. Try again in a moment.",
      name
    )
  end
  file.after = lines.join(vim.split(now, "\n", { plain = true }), text, false)
  file.edits = file.edits + #edit.edits
  if #file.after > MAX_BYTES then
    refuse("%s would have more than 10 MB.", name)
  end
  task.breathe()
end

---Reads a file. Throws if it must not be edited.
---@param folders string[] of the workspace
---@param tick integer? of the buffer when the server was asked
---@param version integer? of the text that the server knows
---@return claude-code.AppliedFile
local function opened(name, folders, tick, version)
  local buf, title = path.loaded_buffer(name), path.title(name)
  if privacy.is_private(name) or (buf and privacy.hides(buf)) then
    refuse("It would change a private file (option privacy.patterns).")
  elseif not path.is_in_any(path.real(name), folders) or name:find("/.git/", 1, true) then
    refuse("%s is not in the workspace.", title)
  end
  local stat, before = uv.fs_lstat(name), regular_file.read(name, MAX_BYTES)
  if not stat or stat.type ~= "file" or not before then
    refuse("%s is not a regular file of at most 10 MB.", title)
  elseif buf and vim.bo[buf].modified then
    refuse("%s has unsaved changes in Neovim. Try again once they are saved.", title)
  end
  local now = buf and api.nvim_buf_get_changedtick(buf)
  if buf then
    local text = lines.parse(before, lines.format(buf) ~= "dos")
    local shown = api.nvim_buf_get_lines(buf, 0, -1, false)
    local is_known = (tick or now) == now
      and (version or vim.lsp.util.buf_versions[buf]) == vim.lsp.util.buf_versions[buf]
    if not is_known or not lines.are_same(shown, text.lines) then
      refuse("The text of %s changed while the language server worked. Try again.", title)
    end
  end
  if not (regular_file.is_writable(name) and uv.fs_access(vim.fs.dirname(name), "W")) then
    refuse("%s is read-only.", title)
  end
  local file = { path = name, before = before, after = before, edits = 0, stat = stat }
  file.buf, file.tick = buf, now
  return file
end

---@return claude-code.AppliedFile[] sorted by path
local function changes_of(params)
  local by_path, bytes, edits = {}, 0, 0 ---@type table<string, claude-code.AppliedFile>, integer, integer
  local folders = require("claude-code.lib.workspace").folders()
  -- Check all files first, since failures below name files, which must not be private.
  for i, edit in ipairs(params.operations) do
    local name = path.normal(edit.path)
    if not by_path[name] then
      by_path[name] = opened(name, folders, params.ticks[name], edit.version)
      bytes = bytes + #by_path[name].before
    end
    edits = edits + #edit.edits
    if i > MAX_FILES or bytes > MAX_TOTAL or edits > MAX_EDITS then
      refuse("More than %d files, %d places, or 50 MB, would change.", MAX_FILES, MAX_EDITS)
    end
    task.breathe()
  end
  for _, edit in ipairs(params.operations) do
    edit_text(by_path[path.normal(edit.path)], edit, params.renamed)
  end
  local changes = vim.tbl_filter(function(file)
    return file.before ~= file.after
  end, vim.tbl_values(by_path))
  return sort(changes, "path")
end

local function is_unchanged(file)
  local buf, name = path.loaded_buffer(file.path), file.path
  -- Compare bytes, since a write in the same moment would leave the file's time as it was.
  return regular_file.read(name, math.huge) == file.before
    and (buf and api.nvim_buf_get_changedtick(buf)) == file.tick
    and not (buf and vim.bo[buf].modified)
    -- A folder of the path may have become a link.
    and path.real(name) == name
end

---Writes the new text beside the file, with its mode and owner, under a name that src/lib/atomic-write.ts knows.
local function write_draft(file)
  local id = require("claude-code.lib.uuid")():sub(1, 8)
  local draft = ("%s/.claude-code-nvim.%s.tmp"):format(vim.fs.dirname(file.path), id)
  local mode = bit.band(file.stat.mode, 511) -- 0777
  local handle, problem = uv.fs_open(draft, "wx", mode)
  if not handle then
    return nil, problem
  end
  local written, failure = uv.fs_write(handle, file.after, 0)
  uv.fs_fchmod(handle, mode)
  uv.fs_fchown(handle, file.stat.uid, file.stat.gid)
  uv.fs_close(handle)
  if written ~= #file.after then
    uv.fs_unlink(draft)
    return nil, failure or "it is cut off"
  end
  return draft
end

local function put_into_place(file, draft)
  local stat = uv.fs_lstat(file.path)
  if stat and (stat.nlink > 1 or stat.uid ~= uv.fs_lstat(draft).uid) then
    -- A copy keeps the file's hard links and owner.
    return select(2, uv.fs_copyfile(draft, file.path))
  end
  return select(2, uv.fs_rename(draft, file.path))
end

---Writes the files, without yielding, if all are as they were read.
---@return claude-code.AppliedFile[] done, string? problem if not all could be written
function M.write(changes)
  for _, file in ipairs(changes) do
    if not is_unchanged(file) then
      return {}, path.title(file.path) .. " was changed in the meantime. Try again."
    end
  end
  local drafts, done, problem = {}, {}, nil ---@type table<string, string>, claude-code.AppliedFile[], string?
  ---@param step fun(file: claude-code.AppliedFile): string? failure
  local function each(step)
    for _, file in ipairs(problem and {} or changes) do
      local failure = step(file)
      if failure then
        problem = ("%s cannot be written: %s."):format(path.title(file.path), failure)
        return
      end
    end
  end
  -- A full disk fails here, before the first file changes.
  each(function(file)
    local failure
    drafts[file.path], failure = write_draft(file)
    return failure
  end)
  each(function(file)
    local failure = put_into_place(file, drafts[file.path])
    done[#done + 1] = not failure and file or nil
    return failure
  end)
  for _, draft in pairs(drafts) do
    uv.fs_unlink(draft)
  end
  for _, file in ipairs(done) do
    if file.buf then
      reload.check(file.buf)
    end
  end
  return done, problem
end

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
    local done, failure = M.write(changes)
    if #done == 0 then
      return nil, { code = "not_written", message = failure }
    end
    changes, problem = done, failure
    files.notify(vim.tbl_map(function(file)
      return { path = file.path, change = "changed" }
    end, changes))
  end
  return {
    problem = problem,
    -- The channel would not keep invalid UTF-8.
    changes = vim.tbl_map(function(file)
      return {
        path = file.path,
        before = vim.base64.encode(file.before),
        after = vim.base64.encode(file.after),
        edits = file.edits,
      }
    end, changes),
  }
end

return M
