--- The entries of a review's list: which changes of a file share an entry, and the text of each entry.
local api, fn = vim.api, vim.fn
local buffers = require("claude-code.editor.review.buffer")
local counted = require("claude-code.lib.text").count
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local task = require("claude-code.lib.task")
local visible = require("claude-code.lib.text").visible
local workspace = require("claude-code.lib.workspace")

---The limits of code and prompt in an entry, in characters, and the prompt's share of the columns.
local MAX_CODE_CHARACTERS, MAX_PROMPT_CHARACTERS, PROMPT_SHARE = 60, 40, 0.25

local WORDS = {
  created = "new file",
  deleted = "deleted",
  mode = "mode changed",
  unseen = "changed",
  changed = "changed",
}

local M = {
  --- Whose edits conflict with a hunk.
  WHOSE = { user = "your", claude = "Claude's later" },
}

---@return boolean is it decided as a whole, whatever hunks it has?
function M.is_whole(file)
  return file.kind ~= "changed" or file.hunk_count == 0
end

---@param mode claude-code.ReviewMode
---@return string
function M.mode_words(mode)
  return ("mode %o, was %o"):format(mode.after, mode.before)
end

---@return string
function M.words(file)
  local words, reason = WORDS[file.kind], file.cannot_undo
  if file.kind == "renamed" then
    words = "renamed from " .. path.title(file.from or "?", ":.")
  elseif file.binary then
    words = (words and words .. ", " or "") .. buffers.binary_words(file)
  elseif file.kind == "created" and file.hunk_count == 0 then
    words = "new empty file"
  elseif file.kind == "changed" then
    words = ("changed, %d hunks"):format(file.hunk_count)
  end
  if file.mode and file.kind == "mode" then
    words = M.mode_words(file.mode)
  elseif file.mode and file.kind ~= "created" and file.kind ~= "deleted" then
    words = words .. ", " .. M.mode_words(file.mode)
  end
  return reason and ("%s, cannot be undone here (it %s)"):format(words, reason) or words
end

---@return string one line of at most `most` characters
local function shortened(bytes, most)
  local text = visible((vim.trim(bytes):gsub("%s+", " ")))
  local cut = fn.strcharpart(text, 0, most)
  return cut ~= text and cut .. "…" or cut
end

---@param id? string of a hunk, or "mode"
---@return claude-code.ReviewOwner? of its last change, or else of the file's
function M.owner_of(file, id)
  local hunk = vim.iter(file.hunks):find(function(one)
    return one.id == id
  end)
  local owners = (hunk or id == "mode" and file.mode or file).owners
  return owners[#owners]
end

---@param names? table<string, string> of sessions, by their ids; nil unless several run
---@param above? claude-code.ReviewOwner of the entry above, which shows the prompt
---@return string[] words about the last owner, after the names of all sessions
function M.origin(owners, names, above)
  local last = owners[#owners]
  if not last then
    return {}
  end
  local sessions = {}
  for _, owner in ipairs(owners) do
    local name = names and names[owner.session] or owner.session:sub(1, 8)
    if not vim.list_contains(sessions, name) then
      table.insert(sessions, name)
    end
  end
  local words = { (names or #sessions > 1) and table.concat(sessions, ", ") or nil }
  words[#words + 1] = last.turn and ("turn %d"):format(last.turn)
  local is_shown = above and above.session == last.session and above.prompt == last.prompt
  if last.prompt and last.prompt ~= "" and not is_shown then
    local most = math.min(MAX_PROMPT_CHARACTERS, math.floor(vim.o.columns * PROMPT_SHARE))
    words[#words + 1] = ("‹%s›"):format(shortened(last.prompt, most))
  end
  words[#words + 1] = last.agent and (last.tool .. " of a subagent") or last.tool
  return words
end

---@param is_stale boolean the buffer lacks it
local function flags(hunk, is_stale)
  local found = { is_stale and "[not in your buffer, which has unsaved edits]" or nil }
  found[#found + 1] = hunk.ends and ("[%s]"):format(hunk.ends) or nil
  if hunk.conflict then
    found[#found + 1] = ("[%s edits conflict]"):format(M.WHOSE[hunk.conflict])
  elseif hunk.mixed then
    found[#found + 1] = "[with your edits]"
  end
  return #found > 0 and table.concat(found, " ") or nil
end

---@return boolean does its buffer lack the hunks?
function M.is_stale(file)
  local buf = path.loaded_buffer(file.path)
  return buf ~= nil and reload.is_stale(buf)
end

---@param entry claude-code.ReviewEntry
function M.is_folder(entry)
  return vim.endswith(entry.path, "/")
end

local function lines(changed)
  return ("+%d -%d"):format(changed.added, changed.removed)
end

---@return table[] what has an entry each, with `words`
local function parts_of(file, is_by_file)
  local row, mode = file.hunks[1] and file.hunks[1].new[1], file.mode
  local new, words =
    row and { row, 1 }, { is_by_file and file.hunk_count > 0 and lines(file) or nil }
  if M.is_whole(file) or not is_by_file and #file.hunks < file.hunk_count then
    words[#words + 1] = M.words(file)
    return { { new = new, words = words } }
  elseif is_by_file then
    vim.list_extend(words, { counted(file.hunk_count, "hunk"), mode and M.mode_words(mode) })
    return { { new = new, words = words, is_sum = true } }
  end
  local parts, is_stale = {}, M.is_stale(file)
  if mode then
    parts[1] = { id = "mode", words = { M.mode_words(mode) }, owners = mode.owners }
  end
  for _, hunk in ipairs(file.hunks) do
    words = { lines(hunk) }
    local code = shortened(hunk.code or "", MAX_CODE_CHARACTERS)
    words[#words + 1] = code ~= "" and code or nil
    words[#words + 1] = flags(hunk, is_stale)
    parts[#parts + 1] = vim.tbl_extend("error", hunk, { words = words })
  end
  return parts
end

local numbers = {} ---@type table<string, integer> of buffers, by their names

---@return integer buf possibly not loaded: setqflist() would take 100 ms to look up 2,000 names
local function buffer(name)
  local buf = numbers[name]
  if not buf or not api.nvim_buf_is_valid(buf) or api.nvim_buf_get_name(buf) ~= name then
    buf = fn.bufadd(name)
    numbers[name] = buf
  end
  return buf
end

---@param first integer row
---@param module? string shown in place of the buffer's name
local function item_of(entry, buf, first, count, words, module)
  return {
    bufnr = buf,
    module = module,
    lnum = first,
    end_lnum = count > 1 and first + count - 1 or nil,
    text = table.concat(words, "  "),
    user_data = { claude_code = entry },
  }
end

---Makes the items of a file, unless nothing has changed since. `last` is the owner of the last one.
---@param depth? integer of the folders above it; nil: its hunks are listed
local function listed_file(file, short, depth, names, above)
  local name = buffers.shown_name(file)
  local from = { name = name, short = short, buf = buffer(name), is_stale = M.is_stale(file) }
  from.above, from.names, from.columns, from.depth = above, names, vim.o.columns, depth
  if file.listed and vim.deep_equal(file.listed.from, from) then
    return file.listed
  end
  local shown = visible(short)
  local module = (name ~= file.path or shown ~= short) and shown or nil
  if depth then
    module = ("  "):rep(depth) .. visible(vim.fs.basename(short))
  end
  local items = {}
  for i, part in ipairs(parts_of(file, depth ~= nil)) do
    local first, count = unpack(part.new or { 1, 1 })
    local owners = part.owners or file.owners
    local words = vim.list_extend(part.words, M.origin(owners, names, above))
    local entry = { path = file.path, hunk = part.id, is_sum = part.is_sum, depth = depth }
    items[i] = item_of(entry, from.buf, math.max(first, 1), count, words, module)
    above = owners[#owners]
  end
  file.listed = { items = items, last = above, from = from }
  return file.listed
end

---Runs in a task, in slices.
---@param files claude-code.ReviewFile[] in order of their paths
---@param names? table<string, string> of sessions, by their ids; nil unless several run
---@return table[] items for setqflist()
function M.items(files, names, is_by_file)
  local items, above = {}, nil
  local function add_file(i, depth)
    local short = path.title(files[i].path, ":.")
    local listed = listed_file(files[i], short, depth, names, above)
    vim.list_extend(items, listed.items)
    above = listed.last
    task.breathe()
  end
  ---Adds files and their folders: those below `base`. A folder with nothing but a folder in it shares the row of that.
  local function add_tree(first, last, base, depth)
    while first <= last do
      local folder = files[first].path:match("^[^/]*/", #base + 1)
      if not folder then
        add_file(first, depth)
        first = first + 1
      else
        local i, at, sum = first, #base + 1, { added = 0, removed = 0 }
        while i <= last and vim.startswith(files[i].path, base .. folder) do
          sum.added, sum.removed = sum.added + files[i].added, sum.removed + files[i].removed
          i = i + 1
        end
        -- All names between these two begin as both do.
        local one, other = files[first].path, files[i - 1].path
        while at <= #one and one:byte(at) == other:byte(at) do
          at = at + 1
        end
        folder = one:sub(1, at - 1):match("^.*/")
        local entry = { path = folder, is_sum = true, depth = depth }
        local words = { lines(sum), counted(i - first, "file") }
        local module = ("  "):rep(depth) .. visible(folder:sub(#base + 1))
        items[#items + 1] = item_of(entry, 0, 0, 0, words, module)
        add_tree(first, i - 1, folder, depth + 1)
        first = i
      end
    end
  end
  if is_by_file then
    local root = workspace.root(path.real(fn.getcwd())):gsub("/*$", "/")
    local is_outside = vim.iter(files):any(function(file)
      return not vim.startswith(file.path, root)
    end)
    add_tree(1, #files, is_outside and "" or root, 0)
  else
    for i in ipairs(files) do
      add_file(i)
    end
  end
  return items
end

return M
