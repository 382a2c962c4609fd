--- Draws comments below their lines.
local api = vim.api
local highlights = require("claude-code.editor.review.highlights")
local path = require("claude-code.editor.documents.path")
local places = require("claude-code.editor.review.comments.places")
local store = require("claude-code.editor.review.comments.store")

local NAMESPACE = api.nvim_create_namespace("claude-code.review.comments")
local WIDTH = 76
local OUTDATED = "(its lines have changed) "

local M = {}

---@param text string
---@return string[] lines of at most so many columns, unless a word is longer
local function wrapped(text)
  local lines = {}
  for _, part in ipairs(vim.split(text, "\n", { plain = true })) do
    local line = ""
    for word in vim.gsplit(vim.fn.strtrans(part), " ", { plain = true }) do
      local longer = line == "" and word or (line .. " " .. word)
      if line ~= "" and vim.fn.strdisplaywidth(longer) > WIDTH then
        lines[#lines + 1] = line
        longer = word
      end
      line = longer
    end
    lines[#lines + 1] = line
  end
  return lines
end

---@param buf integer
---@param comment claude-code.ReviewComment
local function draw(buf, comment)
  local place = places.of(comment)
  if comment.is_sent and place.is_outdated then
    return
  end
  local text = (place.is_outdated and OUTDATED or "") .. comment.text
  local group = highlights.name(comment.is_sent and "CommentSent" or "Comment")
  local virtual = {}
  for i, line in ipairs(wrapped(text)) do
    local label = i == 1 and comment.is_sent and "sent: " or ""
    virtual[i] = { { "▎ ", group }, { label .. line, group } }
  end
  api.nvim_buf_set_extmark(buf, NAMESPACE, place.last - 1, 0, {
    virt_lines = virtual,
    strict = false,
  })
end

---@param buf integer
function M.show(buf)
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  places.forget(buf)
  local name = #store.all() > 0 and path.of_buffer(buf) or nil
  for _, comment in ipairs(name and store.of_file(path.real(name)) or {}) do
    draw(buf, comment)
  end
end

function M.show_all()
  vim.iter(api.nvim_list_bufs()):each(M.show)
end

return M
