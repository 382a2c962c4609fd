--- The line above each side: the file, how much changes, which hunk, how many wait, and the keys,
--- which both lines share where they are short.
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

---@param parts claude-code.BarPart[] of which the file's name is cut where there is too little room
---@return string
local function render(parts)
  return table.concat(vim.tbl_map(function(part)
    local cut = part[2] == "File" and "%<" or ""
    return ("%%#%s#%s%s"):format(highlights.name(part[2]), cut, plain(part[1]))
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
  if session.overtaken then
    parts[#parts + 1] = { " written since proposed ", "Warning" }
  end
  if merge.has_conflicts(session) then
    parts[#parts + 1] = { " conflicts are left ", "Warning" }
  elseif session.unsaved and merge.is_done(session) then
    parts[#parts + 1] = { " with your unsaved edits ", "Note" }
  elseif session.unsaved then
    parts[#parts + 1] = { " without your unsaved edits ", "Warning" }
  end
end

---How much a bar tells beside the keys: all; the old side's file without that it is on disk; nothing
---there, as the other bar has it too; not even which hunk.
---@alias claude-code.BarDetail "full"|"name"|"figures"|"least"

---@param session claude-code.Diff
---@param detail claude-code.BarDetail
---@return claude-code.BarPart[]
local function of_old(session, detail)
  local parts = {}
  if detail == "full" or detail == "name" then
    parts[1] = { (" %s "):format(path.base(session.old_path)), "File" }
  end
  if detail == "full" then
    parts[2] = { session.exists and "(on disk) " or "(new file) ", "Note" }
  end
  add_warning(session, parts)
  return parts
end

---@param session claude-code.Diff
---@param parts claude-code.BarPart[] receives the figures, once they are known
---@param detail claude-code.BarDetail
local function add_figures(session, parts, detail)
  local known = session.hunk_cache
  if not known then
    return
  end
  parts[#parts + 1] = { ("+%d "):format(known.added), "Added" }
  parts[#parts + 1] = { ("−%d "):format(known.removed), "Removed" }
  if #known.list > 0 and detail ~= "least" then
    local _, nearest = choice.current(session)
    parts[#parts + 1] = { (" hunk %d/%d "):format(math.max(nearest, 1), #known.list), "Count" }
  end
end

---@param session claude-code.Diff
---@param detail claude-code.BarDetail
---@param cells integer
---@return claude-code.BarPart[]
local function of_new(session, detail, cells)
  local series, parts = session.series, { { " ", "Note" } }
  if series.total > 1 then
    parts[#parts + 1] = { ("[%d/%d] "):format(session.number, series.total), "Count" }
  end
  parts[#parts + 1] = { path.base(session.new_path), "File" }
  if (detail == "full" and cells >= WIDE) or not session.exists then
    parts[#parts + 1] = { session.exists and " (proposed)" or " (new file)", "Note" }
  end
  parts[#parts + 1] = { " ", "Note" }
  add_figures(session, parts, detail)
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
---@param labelled boolean
---@return claude-code.BarPart[] none if it has no key
local function of_hint(hint, labelled)
  local names = {}
  for _, action in ipairs({ hint[2], hint[3] }) do
    names[#names + 1] = keys.of(action)[1]
  end
  if #names == 0 then
    return {}
  end
  local parts = { { "  ", "Note" }, { table.concat(names, " "), "Key" } }
  if labelled then
    parts[3] = { " " .. hint[1], "Note" }
  end
  return parts
end

---The hints as pieces that stay whole: the first one is how to accept and how to reject.
---@param session claude-code.Diff
---@param labels number how many hints say what they do, the most important first
---@return claude-code.BarPart[][]
local function pieces(session, labels)
  local list = {}
  for i, hint in ipairs(hints(session)) do
    list[i] = of_hint(hint, i <= labels)
  end
  vim.list_extend(list[1], table.remove(list, 2))
  return list
end

---Gives each piece to the first bar that has room for it.
---@param list claude-code.BarPart[][]
---@param rooms integer[] free cells of each bar
---@param needed number how many pieces must find room
---@return claude-code.BarPart[][]? shares one per bar; nil if one that must has no room
local function share(list, rooms, needed)
  local shares = vim.tbl_map(function()
    return {}
  end, rooms)
  for i, piece in ipairs(list) do
    local cells = width(piece)
    local bar = vim.iter(ipairs(rooms)):find(function(_, room)
      return cells <= room
    end)
    if bar then
      rooms[bar] = rooms[bar] - cells
      vim.list_extend(shares[bar], piece)
    elseif i <= needed then
      return nil
    end
  end
  return shares
end

---@class claude-code.BarFit
---@field labels number of hints that say what they do
---@field detail claude-code.BarDetail
---@field needed number of pieces that must find room

---From plenty of room to little: keys before what is told twice, accepting before all else.
---@type claude-code.BarFit[]
local FITS = {
  { labels = math.huge, detail = "full", needed = math.huge },
  { labels = 2, detail = "full", needed = math.huge },
  { labels = 2, detail = "name", needed = math.huge },
  { labels = 2, detail = "figures", needed = math.huge },
  { labels = 2, detail = "figures", needed = 1 },
  { labels = 0, detail = "figures", needed = 1 },
  { labels = 0, detail = "least", needed = 1 },
}

---@param session claude-code.Diff
---@param win integer
---@param detail claude-code.BarDetail
---@return claude-code.BarPart[]
local function information(session, win, detail)
  if api.nvim_win_get_buf(win) == session.old_buf then
    return of_old(session, detail)
  end
  return of_new(session, detail, api.nvim_win_get_width(win))
end

---@param session claude-code.Diff
---@param wins integer[]
---@param fit claude-code.BarFit
---@return string[]? bars one per window; nil if they have no room for the keys
local function bars(session, wins, fit)
  local texts, rooms = {}, {}
  for i, win in ipairs(wins) do
    texts[i] = information(session, win, fit.detail)
    rooms[i] = api.nvim_win_get_width(win) - width(texts[i])
  end
  local list = pieces(session, fit.labels)
  local shares = share(list, rooms, fit.needed)
  if not shares and fit == FITS[#FITS] then
    -- Rather a cut file name than no key.
    shares = { list[1] }
  end
  if not shares then
    return nil
  end
  for i, parts in ipairs(texts) do
    texts[i] = render(parts) .. "%=" .. render(shares[i] or {}) .. "%*"
  end
  return texts
end

---@param session claude-code.Diff
---@return integer[] wins of the diff, the proposal's first
local function shown(session)
  local wins = {}
  for _, win in ipairs(session.place.windows) do
    local buf = api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win)
    if buf == session.new_buf then
      table.insert(wins, 1, win)
    elseif buf == session.old_buf then
      table.insert(wins, win)
    end
  end
  return wins
end

---Brings the bars up to date.
---@param session claude-code.Diff
function M.show(session)
  -- With one of its buffers gone it is about to end.
  local wins = session:is_prepared() and shown(session) or {}
  if #wins == 0 then
    return
  end
  local texts = vim
    .iter(FITS)
    :map(function(fit)
      return bars(session, wins, fit)
    end)
    :next()
  for i, win in ipairs(wins) do
    if vim.wo[win].winbar ~= texts[i] then
      api.nvim_set_option_value("winbar", texts[i], { win = win, scope = "local" })
    end
  end
end

return M
