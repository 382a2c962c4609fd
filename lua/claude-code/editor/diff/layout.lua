--- Chooses the layout and the place of a diff: `diff.layout`, or "inline" if that has too little room; the file's
--- window, or a tab page of its own, which also shows Claude's terminal if that was visible.
---
--- A layout shows a prepared proposal in windows. `open` and `close` run with autocommands off.
local api = vim.api
local borrowing = require("claude-code.editor.windows.borrowed")
local focus = require("claude-code.editor.windows.focus")
local notify = require("claude-code.messages.notify")
local saved_layout = require("claude-code.editor.windows.layout")
local sides = require("claude-code.editor.changes.sides")
local windows = require("claude-code.editor.windows")

---Marks our tab pages.
local TAG = "claude_code_diff"

---Columns and lines of a window that can show a diff. For a smaller one, a tab page opens.
local MIN_INLINE = { width = 40, height = 5 }

---@alias claude-code.DiffLayout "vertical"|"tab"|"inline"

local M = {}

---@class claude-code.Layout
---@field windows integer[] those that show the diff
---@field win integer the one with the proposal
---@field open fun(self)
---@field is_intact fun(self): boolean the user left its windows as they are
---@field close fun(self): integer?, integer? brings the user's windows back, also after `open` has failed; returns a
--- window that has closed, and the one in its place
---@field even_out fun(self) the screen has another size
---@field is_cramped fun(self): boolean it no longer has enough room
---@field refresh fun(self) the proposal was edited
---@field reveal fun(self, hunk?: claude-code.Hunk) the cursor was moved to it

---@class claude-code.DiffPlace
---@field fits boolean there is room for the layout
---@field is_below boolean the proposal is below the file, not beside it
---@field private on_tab boolean
---@field private layout claude-code.DiffLayout
---@field private target? integer buffer of the file
---@field private except? integer window that must not change
local Place = {}
Place.__index = Place

local function terminal()
  return require("claude-code.terminal.window")
end

local function fits(layout, width, height)
  return layout == "inline" or sides.fits(width, height)
end

local function room_here(target, except)
  local win = windows.for_file(target, except)
  if win then
    return api.nvim_win_get_width(win), api.nvim_win_get_height(win)
  end
  return windows.room_beside()
end

---@param target? integer buffer of the file
---@param except? integer window that must not change
---@return boolean does a diff need a tab page of its own?
function M.needs_tab(layout, target, except)
  local width, height = room_here(target, except)
  if layout == "tab" or width < MIN_INLINE.width or height < MIN_INLINE.height then
    return true
  elseif not windows.has_diff() then
    return false
  end
  -- All windows in diff mode of a tab page are compared with each other.
  return layout ~= "inline" or not windows.for_file(target, except)
end

local function choose_place(layout, target, except)
  -- A float would cover it.
  local on_tab = focus.is_in_float() or M.needs_tab(layout, target, except)
  -- One line for tab pages, one for the status.
  local width, height = vim.o.columns, vim.o.lines - vim.o.cmdheight - 2
  if not on_tab then
    width, height = room_here(target, except)
  end
  return setmetatable({
    fits = fits(layout, width, height),
    is_below = sides.is_below(),
    on_tab = on_tab,
    layout = layout,
    target = target,
    except = except,
  }, Place)
end

---@return integer win
local function open_tab(buf, layout)
  local from = api.nvim_get_current_tabpage()
  vim.cmd.sbuffer({ count = buf, mods = { tab = vim.fn.tabpagenr() } })
  local win = api.nvim_get_current_win()
  windows.set_options(win, windows.new_options())
  api.nvim_tabpage_set_var(0, TAG, true)
  -- A terminal that leaves too little room is not shown.
  terminal().mirror_to_tab(from, function(width, height)
    return fits(layout, width, height)
  end)
  terminal().yield_to(win, win)
  return win
end

---@param buf integer one side of the diff, or all of it
---@return claude-code.Borrowed
function Place:take(buf)
  if self.on_tab then
    return borrowing.new(open_tab(buf, self.layout), buf)
  end
  local win = windows.for_file(self.target, self.except)
  if not win then
    return borrowing.new(windows.beside(buf), buf)
  end
  terminal().yield_to(win)
  return borrowing.take(win, buf)
end

---@param width integer of both sides together, which had enough room side by side
---@return boolean they no longer have
function Place:is_cramped(width)
  return not self.on_tab and not sides.fits(width, 0) and not self.is_below
end

---Closes a tab page that has nothing but Claude's terminal. Moves a user there to the previous tab's terminal.
local function close_tab(tab, saved)
  local here = tab == api.nvim_get_current_tabpage() and api.nvim_tabpage_is_valid(saved.tab)
  local is_typing = api.nvim_get_mode().mode == "t"
  local buf = api.nvim_win_get_buf(api.nvim_tabpage_list_wins(tab)[1])
  if here then
    api.nvim_set_current_tabpage(saved.tab)
  end
  -- The only tab page cannot be closed.
  pcall(vim.cmd.tabclose, api.nvim_tabpage_get_number(tab))
  if here then
    terminal().show(buf)
    focus.give_back({ win = api.nvim_get_current_win(), terminal = is_typing }, saved.previous)
  end
end

---A diff's tab page closes with it, unless the user has put something there.
local function close_tabs(saved)
  local ours = vim.tbl_filter(function(tab)
    return vim.t[tab][TAG]
  end, api.nvim_list_tabpages())
  for _, tab in ipairs(ours) do
    local wins = vim.iter(api.nvim_tabpage_list_wins(tab)):filter(function(win)
      return not windows.is_floating(win)
    end)
    if wins:all(terminal().is_terminal) then
      close_tab(tab, saved)
    else
      api.nvim_tabpage_del_var(tab, TAG)
    end
  end
end

---The layout of the option, or one that shows all of the diff.
local function pick(proposal, except)
  local wanted = require("claude-code.config").get().diff.layout
  -- A new file has no old side; outside of the workspace, two bars have room for the warnings.
  local is_new = not proposal.exists and not proposal:is_outside()
  local name = is_new and wanted == "vertical" and "inline" or wanted
  local place = choose_place(name, proposal.target, except)
  local reason = name ~= "inline"
    and place.fits
    and sides.why_inline(proposal.old.lines, proposal:lines(), proposal:hunks().list)
  if reason then
    notify.info("shown inline: " .. reason, "diff.layout")
  end
  if reason or not place.fits then
    name, place = "inline", choose_place("inline", proposal.target, except)
  end
  if name == "inline" or is_new then
    return require("claude-code.editor.diff.inline").new(proposal, place)
  end
  return require("claude-code.editor.diff.sides").new(proposal, place)
end

---Makes a proposal's buffers and windows. Throws if that fails, and leaves nothing behind.
---@param except? integer window that must not change
---@return claude-code.Layout, claude-code.SavedLayout before
function M.open(proposal, except)
  local layout, saved
  local ok, message = pcall(windows.noautocmd, function()
    focus.outside_terminal(function()
      proposal:prepare()
    end)
    saved = saved_layout.save()
    layout = pick(proposal, except)
    layout:open()
  end)
  if not ok then
    if layout then
      pcall(windows.noautocmd, function()
        layout:close()
        saved_layout.restore(saved)
      end)
    end
    proposal:discard()
    error(message, 0)
  end
  return layout, saved
end

---Closes a proposal's windows and the user's splits of them. Runs with autocommands off.
---@param before claude-code.SavedLayout
function M.close(layout, proposal, before, origin)
  for _, buf in ipairs(proposal:buffers()) do
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      if not vim.tbl_contains(layout.windows, win) then
        windows.close(win)
      end
    end
  end
  local gone, instead = layout:close()
  if gone and instead then
    saved_layout.replace(before, gone, instead)
    origin.win = origin.win == gone and instead or origin.win
  end
  terminal().take_back()
  close_tabs(before)
end

return M
