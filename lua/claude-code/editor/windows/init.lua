--- Finds windows of the user's that may show a file, and shows it there without changing jump list and alternate file.
local api, fn = vim.api, vim.fn
local finally = require("claude-code.lib.finally")

local M = {}

---Plugins such as scope.nvim, which keeps listed buffers by tab page, need these events of the user's tab pages.
local function report_tab_pages(from)
  local here = api.nvim_get_current_tabpage()
  for _, event in ipairs(here ~= from and { "TabLeave", "TabEnter" } or {}) do
    local tab = event == "TabLeave" and from or here
    if api.nvim_tabpage_is_valid(tab) and not vim.t[tab].claude_code_diff then
      pcall(api.nvim_win_call, api.nvim_tabpage_get_win(tab), function()
        api.nvim_exec_autocmds(event, { modeline = false })
      end)
    end
  end
end

---Runs `work` without autocommands, except those of the user's tab pages that it leaves and enters, and without
---Neovim's messages about files. Errors are passed on.
function M.noautocmd(work)
  local ignored, shortmess, tab = vim.o.eventignore, vim.o.shortmess, api.nvim_get_current_tabpage()
  vim.o.eventignore = "all"
  vim.opt.shortmess:append("F")
  finally(function()
    vim.o.shortmess, vim.o.eventignore = shortmess, ignored
    report_tab_pages(tab)
  end, work)
end

---@param win? integer
---@return boolean does the window exist and show the buffer?
function M.shows(win, buf)
  return win ~= nil and api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf
end

function M.is_floating(win)
  return api.nvim_win_get_config(win).relative ~= ""
end

---@return boolean is it the only non-floating window of its tab page?
function M.is_last(win)
  local tab = api.nvim_win_get_tabpage(win)
  return vim.iter(api.nvim_tabpage_list_wins(tab)):all(function(other)
    return other == win or M.is_floating(other)
  end)
end

---@return boolean is it for files, and not a terminal, tree, list, float, preview, diff, 'winfixbuf' or ours to follow?
local function is_normal(win)
  local options = vim.wo[win]
  return not M.is_floating(win)
    and not vim.w[win].claude_code_follow
    and vim.bo[api.nvim_win_get_buf(win)].buftype == ""
    and not (options.previewwindow or options.diff or options.winfixbuf)
end

---@param first table<integer, integer> ranks of the windows that come first, above any number of cells
local function sort(wins, first)
  local function rank(win)
    return first[win] or api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
  end
  table.sort(wins, function(a, b)
    local rank_a, rank_b = rank(a), rank(b)
    return rank_a > rank_b or rank_a == rank_b and a < b
  end)
end

---Finds a window for a file: one that shows `buf`, or else the current, the previous or the largest one.
---@param buf integer?
---@param except integer? window to leave alone
---@return integer? win
function M.for_file(buf, except)
  local wins = vim.tbl_filter(function(win)
    return win ~= except and is_normal(win)
  end, api.nvim_tabpage_list_wins(0))
  sort(wins, { [fn.win_getid(fn.winnr("#"))] = 1e9, [api.nvim_get_current_win()] = 2e9 })
  return vim.iter(wins):find(function(win)
    return api.nvim_win_get_buf(win) == buf
  end) or wins[1]
end

---@return vim.api.keyset.win_config of a new window beside special ones
local function spot_beside()
  local wins = vim.tbl_filter(function(win)
    return not M.is_floating(win)
  end, api.nvim_tabpage_list_wins(0))
  sort(wins, {})
  local anchor = wins[1]
  local width, height = api.nvim_win_get_width(anchor), api.nvim_win_get_height(anchor)
  if width >= 160 then
    return { win = anchor, split = "left", width = math.floor(width * 2 / 3) }
  end
  return { win = anchor, split = "above", height = math.floor(height * 2 / 3) }
end

---@return integer width of a window beside special ones
---@return integer height
function M.room_beside()
  local spot = spot_beside()
  return spot.width or api.nvim_win_get_width(spot.win),
    spot.height or api.nvim_win_get_height(spot.win)
end

---@return table<string, any> values of all window options but 'scroll'
local function collect_options(value_of)
  local values = {}
  for name, info in pairs(api.nvim_get_all_options_info()) do
    if info.scope == "win" and name ~= "scroll" then
      values[name] = value_of(name, info)
    end
  end
  return values
end

---@return table<string, any> options of a new window; those that are also global follow that value
function M.new_options()
  local values = collect_options(function(name, info)
    if info.global_local then
      return info.type == "string" and "" or -1
    end
    return api.nvim_get_option_value(name, { scope = "global" })
  end)
  values.diff, values.scrollbind, values.cursorbind, values.winfixbuf = false, false, false, false
  return values
end

---@return table<string, any>
function M.options_of(win)
  return collect_options(function(name)
    return api.nvim_get_option_value(name, { win = win, scope = "local" })
  end)
end

---Sets options that differ, for this window only.
---@param values table<string, any>
function M.set_options(win, values)
  for name, value in pairs(values) do
    local where = { win = win, scope = "local" }
    if api.nvim_get_option_value(name, where) ~= value then
      pcall(api.nvim_set_option_value, name, value, where)
    end
  end
end

---Opens a window for `buf` beside special ones, but with the global options.
---@return integer win
function M.beside(buf)
  local win = api.nvim_open_win(buf, false, spot_beside())
  M.set_options(win, M.new_options())
  return win
end

---Shows a buffer in a window, or in a new one if `win` is nil or must keep its buffer.
---@param buf integer loaded
---@param win? integer
---@return integer win that shows it
function M.bring(buf, win)
  if not win then
    return M.beside(buf)
  end
  local before = api.nvim_win_get_buf(win)
  if before == buf then
    return win
  end
  local hide = vim.bo[before].bufhidden
  local is_hidden = hide == "hide" or hide == "" and vim.o.hidden
  if vim.bo[before].modified and not is_hidden and #fn.win_findbuf(before) < 2 then
    -- Neovim refuses to abandon it.
    return api.nvim_open_win(buf, false, { split = "above", win = win })
  end
  api.nvim_win_set_buf(win, buf)
  return win
end

---Neovim compares all windows in diff mode of a tab page, so ours must be in another one.
---@return boolean does another plugin, or the user, compare something in this tab page?
function M.has_diff()
  return vim.iter(api.nvim_tabpage_list_wins(0)):any(function(win)
    return vim.wo[win].diff
  end)
end

---Shows a buffer in a window without changing alternate file and jump list.
---@param buf integer loaded
function M.show(win, buf)
  -- Neovim checks whether the file of a buffer has changed when it enters it, and asks (W11, W12) or reads it by its
  -- old 'fileformat'. documents/reload.lua must do that, as Claude may just have written it.
  local buftype = vim.bo[buf].buftype
  vim.bo[buf].buftype = buftype == "" and "nofile" or buftype
  finally(function()
    if buftype == "" then
      vim.bo[buf].buftype = ""
    end
  end, function()
    api.nvim_win_call(win, function()
      vim.cmd.buffer({ count = buf, mods = { keepalt = true, keepjumps = true } })
    end)
  end)
end

---@return integer buf that CTRL-^ leads to, or -1
function M.alternate(win)
  return api.nvim_win_call(win, function()
    return fn.bufnr("#")
  end)
end

---Finds the buffer for a window whose own is deleted: the alternate buffer, or the one used last.
---@param may_load boolean include unloaded ones, though loading may ask (E325)
---@return integer? buf nil if no other one is listed
function M.buffer_before(win, may_load)
  local here, newest, alternate = api.nvim_win_get_buf(win), nil, M.alternate(win)
  for _, info in ipairs(fn.getbufinfo({ buflisted = 1 })) do
    local is_other = info.bufnr ~= here and (may_load or info.loaded == 1)
    if is_other and info.bufnr == alternate then
      return alternate
    elseif is_other and (not newest or info.lastused > newest.lastused) then
      newest = info
    end
  end
  return newest and newest.bufnr
end

---Shows another buffer in each window of one that is about to be deleted, so that they stay open.
---@param prepare? fun(other: integer) called before a buffer is shown
function M.replace_buffer(buf, prepare)
  for _, win in ipairs(fn.win_findbuf(buf)) do
    local other = M.buffer_before(win, false)
    if other and prepare then
      prepare(other)
    end
    api.nvim_win_call(win, function()
      -- A window with 'winfixbuf' closes with its buffer.
      pcall(vim.cmd[other and "buffer" or "enew"], other and { count = other } or {})
    end)
  end
end

---Closes one of our windows, or empties the last one.
function M.close(win)
  if not pcall(api.nvim_win_close, win, true) then
    api.nvim_win_call(win, vim.cmd.enew)
  end
end

return M
