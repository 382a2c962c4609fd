--- Finds windows that may show a file, and shows buffers without changing the jump list and the alternate file.
local api, fn = vim.api, vim.fn
local finally = require("claude-code.lib.finally")

local M = {}

---Fires TabLeave and TabEnter for the user's tab pages: scope.nvim keeps listed buffers by tab page.
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

---Runs `work` without autocommands, except for TabLeave and TabEnter of the user's tab pages, and without Neovim's
---messages about files. Passes errors on.
function M.noautocmd(work)
  local ignored, shortmess, tab = vim.o.eventignore, vim.o.shortmess, api.nvim_get_current_tabpage()
  vim.o.eventignore = "all"
  vim.opt.shortmess:append("F")
  finally(function()
    vim.o.shortmess, vim.o.eventignore = shortmess, ignored
    report_tab_pages(tab)
  end, work)
end

---Does the window exist and show the buffer?
function M.shows(win, buf)
  return win ~= nil and api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf
end

function M.is_floating(win)
  return api.nvim_win_get_config(win).relative ~= ""
end

---Is it the only non-floating window of its tab page?
function M.is_last(win)
  local tab = api.nvim_win_get_tabpage(win)
  return vim.iter(api.nvim_tabpage_list_wins(tab)):all(function(other)
    return other == win or M.is_floating(other)
  end)
end

---Is the window for files, and not a terminal, a tree, a list, a preview, a diff, or our window that follows Claude?
local function is_normal(win)
  local options = vim.wo[win]
  return not M.is_floating(win)
    and not vim.w[win].claude_code_follow
    and vim.bo[api.nvim_win_get_buf(win)].buftype == ""
    and not (options.previewwindow or options.diff or options.winfixbuf)
end

---Sorts windows by size.
---@param first table<integer, integer> ranks of windows that come before all others
local function sort(wins, first)
  local function rank(win)
    return first[win] or api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
  end
  table.sort(wins, function(a, b)
    local rank_a, rank_b = rank(a), rank(b)
    return rank_a > rank_b or rank_a == rank_b and a < b
  end)
end

---Finds a window for a file: one that shows the buffer, or else the current, the previous or the largest one.
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

---@return vim.api.keyset.win_config of a new window beside the largest one
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

---@return integer width, integer height of a window that `beside` would open
function M.room_beside()
  local spot = spot_beside()
  return spot.width or api.nvim_win_get_width(spot.win),
    spot.height or api.nvim_win_get_height(spot.win)
end

---@return table<string, any> values of all window options except 'scroll'
local function collect_options(value_of)
  local values = {}
  for name, info in pairs(api.nvim_get_all_options_info()) do
    if info.scope == "win" and name ~= "scroll" then
      values[name] = value_of(name, info)
    end
  end
  return values
end

---@return table<string, any> options of a new window, which follows global values
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

function M.options_of(win)
  return collect_options(function(name)
    return api.nvim_get_option_value(name, { win = win, scope = "local" })
  end)
end

---Sets options for this window only.
function M.set_options(win, values)
  for name, value in pairs(values) do
    local where = { win = win, scope = "local" }
    if api.nvim_get_option_value(name, where) ~= value then
      pcall(api.nvim_set_option_value, name, value, where)
    end
  end
end

---Opens a window with global options beside the largest one.
---@return integer win
function M.beside(buf)
  local win = api.nvim_open_win(buf, false, spot_beside())
  M.set_options(win, M.new_options())
  return win
end

---Shows a loaded buffer in a window, or in a new one if `win` is nil or must keep its buffer.
---@return integer win
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
    -- Neovim would refuse to abandon that buffer.
    return api.nvim_open_win(buf, false, { split = "above", win = win })
  end
  api.nvim_win_set_buf(win, buf)
  return win
end

---Is a window of this tab page in diff mode? Neovim compares all of them, so our diff needs another tab page.
function M.has_diff()
  return vim.iter(api.nvim_tabpage_list_wins(0)):any(function(win)
    return vim.wo[win].diff
  end)
end

---Shows a loaded buffer in a window without changing the alternate file and the jump list.
function M.show(win, buf)
  -- With a 'buftype' Neovim does not check the file when it enters the buffer: it would ask (W11, W12), or read the
  -- file with the old 'fileformat'. documents/reload.lua does that, as Claude may have just written the file.
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

---Finds another buffer for a window: the alternate one, or the one used last.
---@param may_load boolean include unloaded buffers, though loading may ask (E325)
---@return integer? buf nil if no other buffer is listed
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

---Shows other buffers in the windows of a buffer that is about to be deleted, so that they stay open.
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
