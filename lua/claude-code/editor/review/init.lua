--- The review of what Claude changed without asking: the quickfix list, marks in the user's files, and
--- decisions that can be taken back. The executable knows the changes (src/review); here is what the
--- user sees.
local api = vim.api
local bars = require("claude-code.editor.review.bars")
local buffers = require("claude-code.editor.review.buffers")
local client = require("claude-code.editor.review.client")
local decide = require("claude-code.editor.review.decide")
local files = require("claude-code.editor.review.files")
local keys = require("claude-code.editor.review.keys")
local list = require("claude-code.editor.review.list")
local move = require("claude-code.editor.review.move")
local notify = require("claude-code.messages.notify")
local overwritten = require("claude-code.editor.review.overwritten")
local path = require("claude-code.editor.documents.path")
local scopes = require("claude-code.editor.review.scope")
local view = require("claude-code.editor.review.view")

local M = {}

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
    view.refresh(function()
      if scopes.active() and is_here() and not list.has_cursor() then
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

keys.set_actions({
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
})

---@param buf integer that a window shows now
local function update_shown(buf)
  view.map_keys()
  if not api.nvim_buf_is_valid(buf) or not files.of_buffer(buf) then
    return
  elseif scopes.active() and files.expand(buf) then
    view.refresh()
  else
    buffers.update(buf)
  end
end

local function watch()
  if is_watching then
    return
  end
  is_watching = true
  local group = api.nvim_create_augroup("claude-code.review", { clear = true })
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "BufWritePost" }, {
    group = group,
    callback = function(event)
      buffers.touch(event.buf, view.refresh)
    end,
  })
  api.nvim_create_autocmd({ "BufWinEnter", "QuickFixCmdPost" }, {
    group = group,
    callback = function(event)
      -- Before the next key is typed: Neovim's own `gr` would replace a character.
      view.map_keys()
      bars.update()
      vim.schedule(function()
        update_shown(event.buf)
      end)
    end,
  })
  overwritten.watch(group)
  require("claude-code.editor.review.turn_end").watch()
end

---@param review claude-code.ReviewScope
---@param jump boolean to the first entry at once
function M.open(review, jump)
  watch() -- the executable's first report may be on its way
  view.open(review, jump)
end

---Leaves the review; what is undecided stays so.
function M.close()
  if not scopes.active() then
    return notify.warn("no review is open; :ClaudeCodeReview opens one")
  end
  view.close()
end

---@param what claude-code.ReviewTarget
function M.keep(what)
  decide.keep(what, from_here())
end

---@param what claude-code.ReviewTarget
function M.undo(what)
  decide.undo(what, from_here())
end

function M.back()
  decide.back(view.refresh)
end

function M.done()
  decide.done(function(is_decided)
    if not scopes.active() then
      local kept = "all of Claude's changes are kept; :ClaudeCodeReviewBack takes that back"
      notify.info(is_decided and kept or "there is nothing left to review", "review")
    end
    view.refresh()
  end)
end

function M.why()
  require("claude-code.editor.review.why").show()
end

---@return boolean are marks wanted in files now?
local function is_drawn()
  return scopes.active() ~= nil or require("claude-code.config").get().review.signs == "always"
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
    require("claude-code.lib.events").emit("ReviewChanged", news.counts)
  end
  if is_drawn() and (has_changes or #files.all() > 0) then
    view.refresh()
  end
  return true
end

return M
