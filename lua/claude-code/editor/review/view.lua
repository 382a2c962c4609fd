--- What a review shows: its quickfix list, its keys, and marks and bars in the user's files.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local bars = require("claude-code.editor.review.bars")
local base = require("claude-code.editor.review.base")
local buffers = require("claude-code.editor.review.buffer")
local hunk_keys = require("claude-code.editor.hunks.keys")
local listing = require("claude-code.editor.review.listing")
local list = require("claude-code.editor.review.list")
local move = require("claude-code.editor.review.move")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")

---Milliseconds after the last change of a text.
local TYPED_MS = 200

local M = {}

local is_watching = false

---The last review, if its list closed because all was decided.
local ended ---@type claude-code.OpenReview?

---Keys in the buffers of the review, and in its quickfix window.
local function map_keys()
  local review = listing.review()
  for _, win in ipairs(review and api.nvim_list_wins() or {}) do
    local buf = api.nvim_win_get_buf(win)
    local is_list = vim.bo[buf].buftype == "quickfix" and list.is_current()
    if is_list or listing.of_buffer(buf) or base.file_of(buf) then
      hunk_keys.map(buf, "review", review.keys)
    else
      hunk_keys.unmap(buf, "review")
    end
  end
end

---Shows what there is to review in a buffer. A list of the review that has other hunks is filled again.
---@param buf integer
---@param callback? fun()
function M.update(buf, callback)
  local shown = buffers.attach(buf)
  shown:update(function()
    bars.update()
    if listing.review() and shown.is_attached and shown:is_current() and shown:is_missed() then
      M.refresh()
    end
    if callback then
      callback()
    end
  end)
end

---Every buffer on screen, or of which something is shown.
---@param callback? fun() once the current buffer is shown
local function update_all(callback)
  local wanted, current = {}, api.nvim_get_current_buf()
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    wanted[buf] = listing.of_buffer(buf) and true or nil
  end
  for _, shown in ipairs(buffers.all()) do
    wanted[shown.buf] = wanted[shown.buf] or #shown.hunks > 0 or nil
  end
  wanted[current] = wanted[current] or callback and true or nil
  for buf in pairs(wanted) do
    local shown, then_call = buffers.attach(buf), buf == current and callback or nil
    if not shown:is_as_listed() then
      M.update(buf, then_call)
    elseif then_call then
      then_call()
    end
  end
  bars.update()
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
  bars.update()
  vim.schedule(function()
    map_keys()
    if not api.nvim_buf_is_loaded(buf) or not listing.of_buffer(buf) then
      return
    elseif listing.review() and listing.expand(buf) then
      M.refresh()
    else
      M.update(buf)
    end
  end)
end

local function watch()
  if is_watching then
    return
  end
  is_watching = true
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
end

---@param scope claude-code.ReviewScope in which there is nothing
local function nothing_in(scope)
  local missing = vim.iter(scope.paths or {}):find(function(name)
    return not vim.uv.fs_lstat(name)
  end)
  if missing then
    return ("there is no file, and no session, of the name %s"):format(path.title(missing))
  end
  local where = scope.paths and " in " .. table.concat(vim.tbl_map(path.title, scope.paths), ", ")
  local when = scope.scope == "turn" and " in its last turn"
    or scope.scope == "session" and " in this session"
    or ""
  local but = listing.ignored(", but ") or ""
  if (require("claude-code.editor.review.client").summary() or {}).runs then
    but = but .. "; it still works, and what it changes is listed once that is recorded"
  end
  return ("Claude changed nothing%s%s that you have not reviewed%s"):format(where or "", when, but)
end

---@return boolean did its list close?
local function end_review()
  listing.finish()
  bars.stop()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    hunk_keys.unmap(buf, "review")
    if base.file_of(buf) then
      windows.replace_buffer(buf)
    end
  end
  return list.close()
end

---The first list of a review has come.
---@param review claude-code.OpenReview
---@param incomplete string[] sentences
local function begin(review, incomplete)
  for _, sentence in ipairs(incomplete) do
    notify.warn(sentence, "review.incomplete")
  end
  if list.fill(review.scope) == 0 then
    local nothing = nothing_in(review.scope)
    end_review()
    local folders = require("claude-code.lib.workspace").folders()
    local off = vim.iter(folders):map(require("claude-code.claude.hooks").off):next()
    if off then
      notify.warn("Claude's changes are not recorded, for its hooks are off: " .. off, "review")
    elseif #incomplete == 0 then
      notify.info(nothing, "review")
    end
    return
  end
  review.is_listed = true
  -- What they hold may be of another review.
  vim.iter(api.nvim_list_bufs()):filter(base.file_of):filter(api.nvim_buf_is_loaded):each(base.load)
  list.open()
  local show = review.jumps and move.entry or move.show_entry
  show(1)
end

---Lists again, and shows it everywhere.
---@param callback? fun() once the current buffer is shown, or cannot be
function M.refresh(callback)
  local give_up = callback or function() end
  local review = listing.review()
  watch()
  listing.refresh(function(problem, incomplete)
    local is_first = review and not review.is_listed
    if review ~= listing.review() then
      return give_up() -- the answer is about another review, or none
    elseif problem then
      if is_first then
        end_review()
      end
      notify.error(problem)
      return give_up()
    elseif is_first then
      begin(review, incomplete or {})
    elseif review and list.fill(review.scope) == 0 then
      ended = end_review() and review or nil
      local scope = review.scope
      local whose = scope.scope == "unreviewed" and not scope.paths and "Claude's" or "these"
      local but = listing.ignored(", but ") or ""
      notify.info(("all of %s changes are reviewed%s"):format(whose, but), "review")
    end
    map_keys()
    update_all(callback)
  end)
end

---@param review claude-code.OpenReview
function M.open(review)
  ended = nil
  listing.begin(review)
  bars.start()
  M.refresh()
end

---What was decided waits again: a list that closed with the decision is there again.
function M.bring_back()
  if ended and not listing.review() then
    M.open(vim.tbl_extend("force", ended, { is_listed = false, jumps = true }))
  else
    M.refresh()
  end
end

---Leaves the review; what is undecided stays so.
function M.close()
  if not listing.review() then
    return notify.warn("no review is open; :Claude review opens one")
  end
  end_review()
  M.refresh()
end

return M
