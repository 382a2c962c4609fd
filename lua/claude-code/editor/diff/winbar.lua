--- The line above each side: the file, how much changes, which hunk, how many wait, and the keys,
--- which both lines share where they are short.
local api = vim.api
local accepted = require("claude-code.editor.diff.hunks.marks")
local choice = require("claude-code.editor.diff.hunks.actions")
local highlights = require("claude-code.editor.diff.highlights")
local hunks = require("claude-code.editor.diff.hunks")
local keys = require("claude-code.editor.diff.keys")
local merge = require("claude-code.editor.diff.merge")
local path = require("claude-code.editor.documents.path")

---A bar of so many cells has room for more than what is needed.
local WIDE = 80

local M = {}

---@alias claude-code.BarPart { [1]: string, [2]: string } text and highlight group

---What is found by looking through the whole proposal.
---@class claude-code.Overview
---@field hunks claude-code.HunkCache
---@field accepted? integer hunks accepted by themselves; nil if there is no such choice
---@field conflicts boolean marks of conflicts are left

---What the bars have to tell, as far as there is room for it.
---@class claude-code.BarContent
---@field session claude-code.Diff
---@field warnings claude-code.BarPart[]
---@field figures claude-code.BarPart[] of lines; none until they are known
---@field count claude-code.BarPart[] which hunk of how many; what differs if no line does
---@field hints claude-code.BarHint[]

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
---@return claude-code.BarPart[]
local function warnings(session)
  local parts = {}
  if session.overtaken then
    parts[1] = { " written since proposed ", "Warning" }
  end
  if session.overview and session.overview.conflicts then
    parts[#parts + 1] = { " conflicts are left ", "Warning" }
  elseif session.unsaved and merge.is_done(session) then
    parts[#parts + 1] = { " with your unsaved edits ", "Note" }
  elseif session.unsaved then
    parts[#parts + 1] = { " without your unsaved edits ", "Warning" }
  end
  return parts
end

---How much a bar tells beside the keys: all; the old side's file without that it is on disk; nothing
---there, as the other bar has it too; not even which hunk.
---@alias claude-code.BarDetail "full"|"name"|"figures"|"least"

---@param content claude-code.BarContent
---@param detail claude-code.BarDetail
---@return claude-code.BarPart[]
local function of_old(content, detail)
  local session, parts = content.session, {}
  if detail == "full" or detail == "name" then
    parts[1] = { (" %s "):format(path.base(session.old_path)), "File" }
  end
  if detail == "full" then
    parts[2] = { session.exists and "(on disk) " or "(new file) ", "Note" }
  end
  return vim.list_extend(parts, content.warnings)
end

---@param known claude-code.HunkCache
---@return claude-code.BarPart[]
local function figures(known)
  return {
    { ("+%d "):format(known.added), "Added" },
    { ("−%d "):format(known.removed), "Removed" },
  }
end

---@param session claude-code.Diff
---@param list claude-code.Hunk[]
---@return claude-code.BarPart[]
local function count(session, list)
  if #list == 0 then
    local ends = session:change_of_ends()
    return ends and { { (" %s "):format(ends), "Count" } } or {}
  end
  local _, nearest = choice.current(session, list)
  return { { (" hunk %d/%d "):format(math.max(nearest, 1), #list), "Count" } }
end

---@param content claude-code.BarContent
---@param detail claude-code.BarDetail
---@param cells integer
---@return claude-code.BarPart[]
local function of_new(content, detail, cells)
  local session = content.session
  local series, parts = session.series, { { " ", "Note" } }
  if series.total > 1 then
    parts[#parts + 1] = { ("[%d/%d] "):format(session.number, series.total), "Count" }
  end
  parts[#parts + 1] = { path.base(session.new_path), "File" }
  if (detail == "full" and cells >= WIDE) or not session.exists then
    parts[#parts + 1] = { session.exists and " (proposed)" or " (new file)", "Note" }
  end
  parts[#parts + 1] = { " ", "Note" }
  vim.list_extend(parts, content.figures)
  if detail ~= "least" then
    vim.list_extend(parts, content.count)
  end
  return #session.place.windows == 1 and vim.list_extend(parts, content.warnings) or parts
end

---@class claude-code.BarHint
---@field [1] string what the keys do
---@field [2] claude-code.DiffAction
---@field [3]? claude-code.DiffAction

---What the keys do just now, the most important first.
---@param session claude-code.Diff
---@return claude-code.BarHint[]
local function hints(session)
  local overview, accept = session.overview, "accept"
  local hunk_count = overview and #overview.hunks.list or 0
  if overview and overview.accepted then
    accept = ("accept %d of %d hunks"):format(overview.accepted, hunk_count)
  end
  local list = { { accept, "accept" }, { "reject", "reject" } }
  if session.unsaved and not session.merge then
    list[#list + 1] = { "merge your edits", "merge" }
  end
  if hunk_count > 1 then
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
---@param content claude-code.BarContent
---@param labels number how many hints say what they do, the most important first
---@return claude-code.BarPart[][]
local function pieces(content, labels)
  local list = {}
  for i, hint in ipairs(content.hints) do
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

---@param content claude-code.BarContent
---@param win integer
---@param detail claude-code.BarDetail
---@return claude-code.BarPart[]
local function information(content, win, detail)
  if api.nvim_win_get_buf(win) == content.session.old_buf then
    return of_old(content, detail)
  end
  return of_new(content, detail, api.nvim_win_get_width(win))
end

---@param content claude-code.BarContent
---@param wins integer[]
---@param fit claude-code.BarFit
---@return string[]? bars one per window; nil if they have no room for the keys
local function bars(content, wins, fit)
  local texts, rooms = {}, {}
  for i, win in ipairs(wins) do
    texts[i] = information(content, win, fit.detail)
    rooms[i] = api.nvim_win_get_width(win) - width(texts[i])
  end
  local list = pieces(content, fit.labels)
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

---@param session claude-code.Diff
---@return claude-code.BarContent
local function content_of(session)
  local known = session.overview and session.overview.hunks
  return {
    session = session,
    warnings = warnings(session),
    figures = known and figures(known) or {},
    count = known and count(session, known.list) or {},
    hints = hints(session),
  }
end

---Brings the bars up to date with the cursor, and with the windows' sizes. Of the proposal they
---tell what was found last: to look through a big one takes too long for each key.
---@param session claude-code.Diff nothing happens unless it is on screen
function M.show(session)
  local wins = session:is_shown() and shown(session) or {}
  if #wins == 0 then
    return
  end
  local content = content_of(session)
  local texts = vim
    .iter(FITS)
    :map(function(fit)
      return bars(content, wins, fit)
    end)
    :next()
  for i, win in ipairs(wins) do
    if vim.wo[win].winbar ~= texts[i] then
      api.nvim_set_option_value("winbar", texts[i], { win = win, scope = "local" })
    end
  end
end

---Looks through the proposal, and brings the bars up to date.
---@param session claude-code.Diff with its buffers
function M.update(session)
  local chosen = accepted.of(session)
  session.overview = {
    hunks = hunks.of(session),
    accepted = chosen and chosen.accepted,
    conflicts = merge.has_conflicts(session),
  }
  M.show(session)
end

return M
