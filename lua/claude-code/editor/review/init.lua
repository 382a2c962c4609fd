--- The review of what Claude changed without asking: the quickfix list, marks in the user's files, and
--- decisions that can be taken back. The executable knows the changes (src/review); here is what the
--- user sees.
local api = vim.api
local bar = require("claude-code.editor.review.bar")
local base = require("claude-code.editor.review.base")
local buffers = require("claude-code.editor.review.buffers")
local client = require("claude-code.editor.review.client")
local decide = require("claude-code.editor.review.decide")
local files = require("claude-code.editor.review.files")
local keys = require("claude-code.editor.review.keys")
local list = require("claude-code.editor.review.list")
local list_window = require("claude-code.editor.review.list_window")
local move = require("claude-code.editor.review.move")
local notify = require("claude-code.messages.notify")
local overwritten = require("claude-code.editor.review.overwritten")
local path = require("claude-code.editor.documents.path")
local scopes = require("claude-code.editor.review.scope")

local M = {}

local active ---@type claude-code.ReviewScope? of the review that is on
local listed ---@type claude-code.ReviewScope? of the one whose first list has come
local is_watching = false

---@return integer hunks and whole files that wait for a review
function M.count()
  local news = client.news()
  return news and news.counts.hunks or 0
end

---@return boolean could a change not be recorded?
function M.is_incomplete()
  local news = client.news()
  return news ~= nil and news.incomplete
end

---The bar follows the cursor, during a review only. Plugins that have a bar set it by a timer, or at
---some of these events; ours is there again at once.
---@return integer group
local function follow_cursor()
  local group = api.nvim_create_augroup("claude-code.review.cursor", { clear = true })
  local events = { "CursorMoved", "CursorHold", "WinEnter", "WinResized" }
  local show = { group = group, callback = buffers.show_bars }
  api.nvim_create_autocmd(events, show)
  show.pattern = "winbar"
  api.nvim_create_autocmd("OptionSet", show)
  return group
end

local cursor_group ---@type integer?

local function close()
  active = nil
  if cursor_group then
    api.nvim_del_augroup_by_id(cursor_group)
    cursor_group = nil
  end
  buffers.set_scope(nil)
  files.collapse()
  keys.unmap_all()
  bar.hide_all()
  list_window.close()
end

---@type table<claude-code.ReviewAction, fun(visual: boolean)>
local actions

---Keys in the buffers of the review, and in its quickfix window.
local function map_keys()
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    local is_list = vim.bo[buf].buftype == "quickfix" and list.is_current()
    local is_ours = is_list or files.of_buffer(buf) or base.file_of(api.nvim_buf_get_name(buf))
    if active and is_ours then
      keys.map(buf, actions)
    elseif not is_ours then
      keys.unmap(buf)
    end
  end
end

---@param incomplete string[]
local function say_incomplete(incomplete)
  for _, sentence in ipairs(incomplete) do
    notify.warn(sentence, "review.incomplete")
  end
end

---Lists again, and shows it everywhere.
---@param callback? fun() once the current buffer is shown
local function refresh(callback)
  local review = active
  files.refresh(buffers.scope(), function(problem)
    if review ~= active then
      return -- the answer is about another review, or none
    elseif problem then
      return notify.error(problem)
    end
    if active and active == listed then
      local count = list.fill(active)
      if count == 0 then
        close()
        notify.info(scopes.all_reviewed(review), "review")
      end
    end
    map_keys()
    buffers.update_all(callback)
  end)
end

---@return fun() advance after a decision that is made here, in a file or in the list, unless the user
--- is elsewhere by then
local function from_here()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local name = path.of_buffer(buf)
  -- A file that was removed gave its window to another buffer.
  local function is_gone()
    return not api.nvim_buf_is_loaded(buf)
  end
  local function is_here()
    return api.nvim_get_current_win() == win and (is_gone() or api.nvim_get_current_buf() == buf)
  end
  return function()
    buffers.update(api.nvim_get_current_buf())
    refresh(function()
      if active and is_here() and not list.has_cursor() then
        move.onward(is_gone() and name or nil)
      end
    end)
  end
end

---@param visual boolean
---@return claude-code.ReviewTarget
local function target(visual)
  if not visual then
    return {}
  end
  local rows = { vim.fn.line("v"), vim.fn.line(".") }
  table.sort(rows)
  api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
  return { range = rows }
end

actions = {
  keep = function(visual)
    M.keep(target(visual))
  end,
  undo = function(visual)
    M.undo(target(visual))
  end,
  next_hunk = function()
    move.hunk(1)
  end,
  previous_hunk = function()
    move.hunk(-1)
  end,
  next_file = function()
    move.file(1)
  end,
  previous_file = function()
    move.file(-1)
  end,
  comment = function(visual)
    local range = target(visual).range or { vim.fn.line("."), vim.fn.line(".") }
    vim.cmd.ClaudeCodeComment({ range = range })
  end,
}

local function watch()
  if is_watching then
    return
  end
  is_watching = true
  local group = api.nvim_create_augroup("claude-code.review", { clear = true })
  local function on(events, callback)
    api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on({ "TextChanged", "TextChangedI" }, function(event)
    buffers.touch(event.buf, refresh)
  end)
  overwritten.watch(group)
  on("BufWritePost", function(event)
    buffers.touch(event.buf, refresh)
  end)
  on({ "BufWinEnter", "QuickFixCmdPost" }, function(event)
    -- Before the next key is typed: Neovim's own `gr` would replace a character.
    map_keys()
    buffers.show_bars()
    vim.schedule(function()
      map_keys()
      if not api.nvim_buf_is_valid(event.buf) or not files.of_buffer(event.buf) then
        return
      elseif active and files.expand(event.buf) then
        refresh()
      else
        buffers.update(event.buf)
      end
    end)
  end)
  require("claude-code.editor.review.turn_end").watch(function()
    return active ~= nil
  end)
end

---@param claude_scope claude-code.ReviewScope
---@param jump boolean to the first entry at once
function M.open(claude_scope, jump)
  local review = claude_scope
  active = review
  watch() -- the executable's first report may be on its way
  cursor_group = cursor_group or follow_cursor()
  buffers.set_scope(active)
  files.refresh(active, function(problem, incomplete)
    if review ~= active then
      return -- another one was opened, or this one closed
    elseif problem then
      close()
      return notify.error(problem)
    end
    say_incomplete(incomplete or {})
    if #files.all() == 0 then
      close()
      return notify.info(scopes.nothing_in(review), "review")
    end
    listed = active
    local count = list.fill(active)
    list_window.open(count)
    if jump then
      move.first()
    end
    map_keys()
    buffers.update_all()
  end)
end

---Leaves the review; what is undecided stays so.
function M.close()
  if not active then
    return notify.warn("no review is open; :ClaudeCodeReview opens one")
  end
  close()
  refresh()
end

---@param what claude-code.ReviewTarget
function M.keep(what)
  decide.keep(what, buffers.scope(), from_here())
end

---@param what claude-code.ReviewTarget
function M.undo(what)
  decide.undo(what, buffers.scope(), from_here())
end

function M.back()
  decide.back(refresh)
end

function M.done()
  decide.done(buffers.scope(), function(is_decided)
    if not active then
      local kept = "all of Claude's changes are kept; :ClaudeCodeReviewBack takes that back"
      notify.info(is_decided and kept or "there is nothing left to review", "review")
    end
    refresh()
  end)
end

function M.why()
  require("claude-code.editor.review.why").show()
end

---@return boolean are marks wanted in files now?
local function is_drawn()
  return active ~= nil or require("claude-code.config").get().review.signs == "always"
end

---The executable reports that something was recorded, decided, or has changed on disk.
---@param news claude-code.ReviewNews
---@return true
function M.on_changed(news)
  local before = client.news()
  client.on_changed(news)
  watch()
  vim.iter(news.due):each(decide.carry_out)
  local has_changes = news.counts.files > 0
  local was = before and { before.counts, before.incomplete }
  local is_same = was and vim.deep_equal(was, { news.counts, news.incomplete })
  if not is_same and (before or has_changes or news.incomplete) then
    require("claude-code.events").emit("ReviewChanged", news.counts)
  end
  if is_drawn() and (has_changes or #files.all() > 0) then
    refresh()
  end
  return true
end

return M
