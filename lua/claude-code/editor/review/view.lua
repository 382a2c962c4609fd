--- Shows a review: its quickfix list, its keys, and marks and bars ('winbar') in the user's files. A bar says
--- which hunk of how many it is, which file, what to know about the hunk under the cursor, and the keys.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local buffers = require("claude-code.editor.review.buffer")
local client = require("claude-code.editor.review.client")
local entries = require("claude-code.editor.review.entries")
local hunk_keys = require("claude-code.editor.changes.keys")
local listing = require("claude-code.editor.review.listing")
local list = require("claude-code.editor.review.list")
local move = require("claude-code.editor.review.move")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local task = require("claude-code.lib.task")
local timer = require("claude-code.lib.timer")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

---Milliseconds after the last change of a text.
local TYPED_MS = 200

---Shows nothing, and begins each bar of a review.
local MARK = "%(%)"

---After a decision has led on, |u| is about what Claude wrote to that file.
local UNDONE = "u took what Claude wrote to %s out of its buffer; <C-r> brings it back, "
  .. ":Claude back takes your last decision back"

---The most important last.
local HINTS = {
  { "help", "help" },
  { "next_hunk", "next" },
  { "next_file", "file" },
  { "comment", "comment" },
  { "undo", "undo" },
  { "keep", "keep" },
}

---@return claude-code.BarPart?
local function warning(hunk)
  if hunk.conflict then
    return { (" %s edits conflict "):format(listing.WHOSE[hunk.conflict]), "ClaudeCodeWarning" }
  elseif hunk.mixed then
    return { " with your edits ", "ClaudeCodeNote" }
  end
end

---@param whole? string what became of the file, if it is one entry
---@return string words which hunk of the file it is, or the last one above the cursor, and which file
local function counts(file, whole, hunks, row)
  local number, files_count = 1, #listing.files
  for i, hunk in ipairs(hunks) do
    number = hunk.new[1] <= row + 1 and i or number
  end
  local of_hunks = whole and "" or ("hunk %d/%d "):format(number, #hunks)
  local of_files = ("file %d/%d "):format(file and file.number or 0, files_count)
  return of_hunks .. (files_count > 1 and of_files or "")
end

---@return claude-code.BarPart[]? parts without the keys; nil if nothing is reviewed there
local function parts_in(win)
  local buf = api.nvim_win_get_buf(win)
  local deleted, hunks = listing.base_file(buf), buffers.hunks(buf)
  local file = deleted and listing.by_path[deleted] or listing.of_buffer(buf)
  local whole = file and entries.is_whole(file) and entries.words(file) or nil
  if reload.is_stale(buf) then
    whole, hunks = file and "not in this buffer, which has unsaved edits" or nil, {}
  end
  if #hunks == 0 and not whole then
    return nil
  end
  local row = api.nvim_win_get_cursor(win)[1]
  local at = buffers.hunk_at(hunks, row)
  local mode = not whole and file and file.mode
  local name = file and file.path or api.nvim_buf_get_name(buf)
  -- In a narrow bar the beginning of the path gives way.
  return winbar.parts(
    " %<",
    { vim.fn.fnamemodify(name, ":."), "ClaudeCodeBarFile" },
    whole and { (" %s%s"):format(whole, #listing.files > 1 and "," or ""), "ClaudeCodeNote" },
    { " " .. counts(file, whole, hunks, row), "ClaudeCodeBarCount" },
    at and { ("+%d "):format(at.added), "ClaudeCodeAddSign" },
    at and { ("−%d "):format(at.removed), "ClaudeCodeDeleteSign" },
    mode and { (" %s "):format(entries.mode_words(mode)), "ClaudeCodeNote" },
    at and at.ends and { (" %s "):format(at.ends), "ClaudeCodeNote" },
    at and warning(at)
  )
end

local function with_keys(parts, width)
  local options = require("claude-code.config").get().review.keys
  local hints = {}
  for _, hint in ipairs(HINTS) do
    hints[#hints + 1] = { keys = { hunk_keys.of(options[hint[1]])[1] }, words = hint[2] }
  end
  local room = width - winbar.width(parts) - 1
  table.insert(parts, "%=")
  vim.list_extend(parts, winbar.hints(hints, room))
  return winbar.render(parts) .. " "
end

---Brings the bars of the tab page up to date with the cursors of its windows.
local function update_bars()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local is_plain = api.nvim_win_get_config(win).relative == "" and not vim.wo[win].diff
    local parts = listing.review and is_plain and parts_in(win)
    if parts then
      winbar.show(win, MARK, with_keys(parts, api.nvim_win_get_width(win)))
    else
      winbar.hide(win, MARK)
    end
  end
end

local M = {}

local bars ---@type claude-code.Autocommands? while a review is open

---Keys in the buffers of the review, and in its quickfix window. Neovim's own keys and commands there (`<CR>`, |:cc|)
---show an entry in no window but that of a normal buffer, and would split one else: so long a base text is in one.
local function map_keys()
  if listing.review and list.adopt() then
    vim.schedule_wrap(task.run)(M.refresh)
  end
  local review, type_of_base = listing.review, list.has_cursor() and "" or "nofile"
  for _, win in ipairs(review and api.nvim_list_wins() or {}) do
    local buf = api.nvim_win_get_buf(win)
    local is_list = vim.bo[buf].buftype == "quickfix" and list.is_current()
    if listing.base_file(buf) and vim.bo[buf].buftype ~= type_of_base then
      vim.bo[buf].buftype = type_of_base
    end
    if is_list or listing.of_buffer(buf) or listing.base_file(buf) then
      hunk_keys.map({ buf }, "review", review.keys)
    else
      hunk_keys.unmap(buf, "review")
    end
  end
end

---Asks for what there is to review in a buffer, and shows it. What has changed in the meantime is asked for when that
---is known. A list of the review that has other hunks is filled again. Runs in a task.
local function update(buf)
  local shown, scope = buffers.attach(buf), listing.scope()
  local fetched = shown:fetch()
  if not fetched.is_old and scope == listing.scope() then
    shown:show(fetched.file)
  end
  update_bars()
  if not listing.review or not shown.is_attached or not shown:is_current() then
    return
  end
  local undone = reload.was_undone(buf) and path.title(api.nvim_buf_get_name(buf))
  if undone or shown:is_missed() then
    M.refresh()
  end
  if undone then
    notify.info(UNDONE:format(undone), "review")
  end
end

---@param buf integer
function M.update(buf)
  task.run(function()
    update(buf)
  end)
end

---Every buffer on screen, or of which something is shown; returns once the current one is up to date.
local function update_all()
  local wanted, current = {}, api.nvim_get_current_buf()
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    wanted[buf] = listing.of_buffer(buf) and true or nil
  end
  for _, shown in ipairs(buffers.all()) do
    wanted[shown.buf] = wanted[shown.buf] or #shown.hunks > 0 or nil
  end
  update_bars()
  for buf in pairs(wanted) do
    if buf ~= current and not buffers.attach(buf):is_as_listed() then
      M.update(buf)
    end
  end
  if wanted[current] and not buffers.attach(current):is_as_listed() then
    update(current)
  end
end

local update_changed = timer.debounce(TYPED_MS, function()
  for _, shown in ipairs(buffers.all()) do
    if not shown:is_current() then
      M.update(shown.buf)
    end
  end
end)

---@param buf integer that a window shows now
local function on_shown(buf)
  -- Before the next key is typed: Neovim's own `gr` would replace a character.
  map_keys()
  update_bars()
  vim.schedule(function()
    map_keys()
    if api.nvim_buf_is_loaded(buf) and listing.of_buffer(buf) then
      M.update(buf)
    end
  end)
end

---@param scope claude-code.ReviewScope in which there is nothing
local function nothing_in(scope)
  local missing = vim.iter(scope.paths or {}):find(function(name)
    return not vim.uv.fs_lstat(name)
  end)
  if missing then
    return ("there is no file, and no session, of the name %s"):format(path.title(missing))
  end
  local where = (scope.paths or scope.scope ~= "unreviewed") and " there" or ""
  local but = listing.ignored(", but ")
  if (client.summary() or {}).runs then
    but = but .. "; it still works, and what it changes is listed once that is recorded"
  end
  return listing.unwritten()
    or ("Claude changed nothing%s that you have not reviewed%s"):format(where, but)
end

local function end_review()
  listing.review = nil
  if bars then
    bars:stop()
  end
  for _, win in ipairs(api.nvim_list_wins()) do
    winbar.hide(win, MARK)
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    hunk_keys.unmap(buf, "review")
    if listing.base_file(buf) then
      windows.replace_buffer(buf)
    end
  end
  list.close()
end

---The first list of a review has come.
local function begin(review, answer)
  for _, sentence in ipairs(answer.incomplete) do
    notify.warn(sentence, "review.incomplete")
  end
  client.warn_once(answer.damage)
  list.unfilter()
  if list.fill(review.scope) == 0 then
    local nothing = nothing_in(review.scope)
    end_review()
    local folders = require("claude-code.lib.workspace").folders()
    local off = vim.iter(folders):map(require("claude-code.claude.hooks").off):next()
    if off then
      notify.warn("Claude's changes are not recorded, for its hooks are off: " .. off, "review")
    elseif #answer.incomplete == 0 then
      notify.info(nothing, "review")
    end
    return
  end
  review.is_listed = true
  notify.guard(list.open)
  local show = review.jumps and move.entry or move.show_entry
  show(1)
end

---Lists again, and shows it everywhere. Runs in a task.
function M.refresh()
  local review = listing.review
  local answer, problem = listing.refresh()
  if review ~= listing.review then
    return -- the answer is about another review, or none
  elseif not answer then
    if review and not review.is_listed then
      end_review()
    end
    return notify.error(problem)
  elseif review and not review.is_listed then
    begin(review, answer)
  elseif review and list.fill(review.scope) == 0 then
    end_review()
    -- Reviewed, or stashed, or undone by the user.
    local words = "none of Claude's changes is left to review" .. listing.ignored(", but ")
    notify.info(listing.unwritten() or words, "review")
  end
  map_keys()
  update_all()
end

---@param review claude-code.OpenReview
function M.open(review)
  listing.review = review
  bars = autocommands.new("review.bars")
  winbar.follow(bars, update_bars)
  bars:on("WinEnter", map_keys)
  task.run(M.refresh)
end

---Leaves the review; what is undecided stays so.
function M.close()
  if not listing.review then
    return notify.warn("no review is open; :Claude review opens one")
  end
  end_review()
  task.run(M.refresh)
end

local events = autocommands.new("review.view")
events:on({ "TextChanged", "TextChangedI", "BufWritePost" }, update_changed)
-- Users map keys in LspAttach, too.
events:on({ "BufWinEnter", "QuickFixCmdPost", "LspAttach" }, on_shown)
events:on("BufFilePost", function(buf)
  local shown = buffers.get(buf)
  if shown then
    -- It is another file's now.
    shown:show()
  end
  on_shown(buf)
end)

return M
