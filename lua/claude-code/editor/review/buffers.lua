--- Keeps the hunks of the user's buffers up to date with their text, and what shows them.
local api = vim.api
local bars = require("claude-code.editor.review.bars")
local files = require("claude-code.editor.review.files")
local hunks = require("claude-code.editor.review.hunks")
local marks = require("claude-code.editor.review.marks")
local scopes = require("claude-code.editor.review.scope")
local timer = require("claude-code.lib.timer")

---Milliseconds after the last change of a text.
local TYPED_MS = 200

local M = {}

local soon ---@type fun()?
local pending = {} ---@type table<integer, true>
---Buffers that had hunks: those that are gone come back with |undo|.
local had_hunks = {} ---@type table<integer, true>
---The hunks, by their ids, that the list lacked when it was last asked for because of them.
local missed = {} ---@type table<integer, string>

---@param buf integer
---@param found claude-code.ReviewHunk[]
local function show(buf, found)
  local is_open = scopes.active() ~= nil
  if not is_open and require("claude-code.config").get().review.signs == "never" then
    found = {} -- nothing keeps them up to date
  end
  hunks.set(buf, found)
  if #found > 0 then
    had_hunks[buf] = true
    marks.show(buf, found, is_open)
  else
    marks.clear(buf)
  end
end

---Asks for a buffer's hunks, and shows them.
---@param buf integer
---@param callback? fun()
function M.update(buf, callback)
  local asked = scopes.current()
  files.fetch(buf, function(file)
    if asked == scopes.current() then
      show(buf, file and file.hunks or {})
      bars.update()
    end
    if callback then
      callback()
    end
  end)
end

---Every buffer on screen, or of which something is shown.
---@param callback? fun() once the current buffer is shown
function M.update_all(callback)
  local wanted = {}
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    wanted[buf] = files.of_buffer(buf) and true or nil
  end
  for buf in pairs(had_hunks) do
    if not api.nvim_buf_is_loaded(buf) then
      had_hunks[buf], missed[buf] = nil, nil
      hunks.forget(buf)
      marks.clear(buf)
    elseif #hunks.of(buf) > 0 then
      wanted[buf] = true
    end
  end
  local current = api.nvim_get_current_buf()
  wanted[current] = wanted[current] or callback and true or nil
  for buf in pairs(wanted) do
    M.update(buf, buf == current and callback or nil)
  end
end

---@param found claude-code.ReviewHunk[]
---@return string
local function ids_of(found)
  return vim.iter(found):fold("", function(ids, hunk)
    return ids .. " " .. hunk.id
  end)
end

---@param buf integer
---@return boolean does the list of the review have other hunks than the buffer's text?
local function is_listed_otherwise(buf)
  local file, found = files.of_buffer(buf), hunks.of(buf)
  local listed = file and file.hunks or {}
  local is_cut = file and #listed < file.hunk_count
  local ids = is_cut and #found .. "" or ids_of(found)
  local listed_ids = is_cut and file.hunk_count .. "" or ids_of(listed)
  local is_new = ids ~= listed_ids and missed[buf] ~= ids
  missed[buf] = ids ~= listed_ids and ids or nil
  return scopes.active() ~= nil and is_new
end

---The text changed.
---@param buf integer
---@param list_again fun() called where the list of the review has other hunks than the text by then
function M.touch(buf, list_again)
  if not (had_hunks[buf] or files.of_buffer(buf)) then
    return
  end
  pending[buf] = true
  soon = soon
    or timer.debounce(TYPED_MS, function()
      local buffers = vim.tbl_keys(pending)
      pending = {}
      for _, changed in ipairs(buffers) do
        if api.nvim_buf_is_loaded(changed) then
          M.update(changed, function()
            if is_listed_otherwise(changed) then
              list_again()
            end
          end)
        end
      end
    end)
  soon()
end

return M
