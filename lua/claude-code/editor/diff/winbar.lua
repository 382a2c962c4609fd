--- The line above each side: the file, how much changes, which hunk, how many wait, and the keys.
local api = vim.api
local choice = require("claude-code.editor.diff.choice")
local highlights = require("claude-code.editor.diff.highlights")
local keys = require("claude-code.editor.diff.keys")
local merge = require("claude-code.editor.diff.merge")
local path = require("claude-code.editor.path")

---A bar of so many cells has room for more than what is needed.
local WIDE = 80

local M = {}

---@alias claude-code.BarPart { [1]: string, [2]: string } text and highlight group

---@param text string
---@return string with nothing special to 'winbar'
local function plain(text)
  return (text:gsub("%c", "?"):gsub("%%", "%%%%"))
end

---@param parts claude-code.BarPart[]
---@return string
local function render(parts)
  return table.concat(vim.tbl_map(function(part)
    return ("%%#%s#%s"):format(highlights.name(part[2]), plain(part[1]))
  end, parts))
end

---@param parts claude-code.BarPart[]
---@return integer cells
local function width(parts)
  return vim.iter(parts):fold(0, function(sum, part)
    return sum + vim.fn.strdisplaywidth(part[1])
  end)
end

---@param session claude-code.Diff
---@param parts claude-code.BarPart[] receives what there is to warn of
local function add_warning(session, parts)
  if merge.has_conflicts(session) then
    parts[#parts + 1] = { " conflicts are left ", "Warning" }
  elseif session.unsaved and merge.is_done(session) then
    parts[#parts + 1] = { " with your unsaved edits ", "Note" }
  elseif session.unsaved then
    parts[#parts + 1] = { " without your unsaved edits ", "Warning" }
  end
end

---@param session claude-code.Diff
---@return claude-code.BarPart[]
local function of_old(session)
  local parts = {
    { " " .. path.base(session.old_path), "File" },
    { session.exists and " (on disk) " or " (new file) ", "Note" },
  }
  add_warning(session, parts)
  return parts
end

---@param session claude-code.Diff
---@param parts claude-code.BarPart[] receives the figures, once they are known
local function add_figures(session, parts)
  local known = session.hunk_cache
  if not known then
    return
  end
  parts[#parts + 1] = { ("+%d "):format(known.added), "Added" }
  parts[#parts + 1] = { ("−%d "):format(known.removed), "Removed" }
  if #known.list > 0 then
    local _, nearest = choice.current(session)
    parts[#parts + 1] = { (" hunk %d/%d "):format(math.max(nearest, 1), #known.list), "Count" }
  end
end

---@param session claude-code.Diff
---@param wide boolean
---@return claude-code.BarPart[]
local function of_new(session, wide)
  local series, parts = session.series, { { " ", "Note" } }
  if series.total > 1 then
    parts[#parts + 1] = { ("[%d/%d] "):format(session.number, series.total), "Count" }
  end
  parts[#parts + 1] = { path.base(session.new_path), "File" }
  if wide or not session.exists then
    parts[#parts + 1] = { session.exists and " (proposed)" or " (new file)", "Note" }
  end
  parts[#parts + 1] = { " ", "Note" }
  add_figures(session, parts)
  if #session.place.windows == 1 then
    add_warning(session, parts)
  end
  return parts
end

---@class claude-code.BarHint
---@field [1] string what the keys do
---@field [2] claude-code.DiffAction
---@field [3]? claude-code.DiffAction

---What the keys do just now, the most important first.
---@param session claude-code.Diff
---@return claude-code.BarHint[]
local function hints(session)
  local accepted = session.hunk_cache and choice.accepted(session) or 0
  local accept = "accept"
  if accepted > 0 then
    accept = ("accept %d of %d hunks"):format(accepted, #session.hunk_cache.list)
  end
  local list = { { accept, "accept" }, { "reject", "reject" } }
  if session.unsaved and not session.merge then
    list[#list + 1] = { "merge your edits", "merge" }
  end
  if session.hunk_cache and #session.hunk_cache.list > 1 then
    list[#list + 1] = { "accept/drop hunk", "accept_hunk", "drop_hunk" }
    list[#list + 1] = { "move", "next_hunk", "previous_hunk" }
  end
  if session.series.total > 1 then
    list[#list + 1] = { "other diff", "next_diff", "previous_diff" }
  end
  return list
end

---@param hint claude-code.BarHint
---@return claude-code.BarPart[] none if it has no key
local function of_hint(hint)
  local names = {}
  for _, action in ipairs({ hint[2], hint[3] }) do
    names[#names + 1] = keys.of(action)[1]
  end
  if #names == 0 then
    return {}
  end
  return { { table.concat(names, " "), "Key" }, { " " .. hint[1] .. "  ", "Note" } }
end

---@param session claude-code.Diff
---@param room integer cells
---@return claude-code.BarPart[] as many as there is room for
local function of_keys(session, room)
  local parts = {}
  for _, hint in ipairs(hints(session)) do
    local more = of_hint(hint)
    room = room - width(more)
    if room < 0 then
      break
    end
    vim.list_extend(parts, more)
  end
  return parts
end

---@param session claude-code.Diff
---@param win integer
---@return string
local function text_for(session, win)
  if api.nvim_win_get_buf(win) == session.old_buf then
    return "%<" .. render(of_old(session)) .. "%*"
  end
  local cells = api.nvim_win_get_width(win)
  local parts = of_new(session, cells >= WIDE)
  local room = cells - width(parts) - 1
  return "%<" .. render(parts) .. "%=" .. render(of_keys(session, room)) .. "%*"
end

---Brings the bars up to date.
---@param session claude-code.Diff
function M.show(session)
  for _, win in ipairs(session.place.windows) do
    if api.nvim_win_is_valid(win) then
      local buf = api.nvim_win_get_buf(win)
      local text = (buf == session.old_buf or buf == session.new_buf) and text_for(session, win)
      if text and vim.wo[win].winbar ~= text then
        api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
      end
    end
  end
end

return M
