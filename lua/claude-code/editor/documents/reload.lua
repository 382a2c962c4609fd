--- Buffers whose file was written outside: taken over without any prompt, edits kept.
local api, uv = vim.api, vim.uv
local blocked = require("claude-code.editor.windows.blocked")
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

---After an accept the CLI writes some ms later: looked for in short steps first, then longer ones.
local WATCH_MS, QUICK_MS, QUICK_STEP_MS, SLOW_STEP_MS = 10000, 2000, 50, 250

---How much of a file tells its line ends, in bytes.
local SNIFF = 8192

local M = {}

---@class claude-code.Watch
---@field timer uv.uv_timer_t
---@field shown string signature of the file as its buffer shows it
---@field last? string signature when it was last looked at
---@field started integer in the loop's ms

local watches = {} ---@type table<string, claude-code.Watch>
---Buffers with edits whose file has changed on disk since they read it. `:w` would ask about them.
local stale = {} ---@type table<integer, true>

---Buffers whose unsaved edits, at this changedtick, are in what is about to be written.
local covered = {} ---@type table<integer, { tick: integer, till: number }>

---@param name string
---@return string signature changes with the file; "" if there is none
local function signature(name)
  local stat = uv.fs_stat(name)
  if not stat then
    return ""
  end
  return table.concat({ stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino }, ":")
end

---@param buf integer
---@return table<integer, table> views by window
local function views_of(buf)
  local views = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return views
end

---@param views table<integer, table>
local function restore_views(views)
  for win, view in pairs(views) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
end

---Does Neovim not know which state of the file this buffer stands for, as the file was not there
---when the buffer was made? Then :checktime asks (W13), or does nothing once we told it by `:file`.
---No autocommand can answer, and only the text of :file tells.
---@param buf integer
---@return boolean
local function is_apart(buf)
  local said = api.nvim_buf_call(buf, function()
    return vim.fn.execute("file")
  end)
  -- Behind the name, which may hold anything.
  local flags = said:match('^.*"(.-)$') or ""
  return vim.iter({ "[New]", "[Not edited]" }):any(function(flag)
    return flags:find(vim.fn.gettext(flag), 1, true) ~= nil
  end)
end

---Makes Neovim take note that the file is there, with the edits as they are: :redo leads to the
---file's text, and :w (E13) wants a ! to replace the file.
---@param buf integer modified
local function meet_file(buf)
  local edits = api.nvim_buf_get_lines(buf, 0, -1, false)
  api.nvim_buf_call(buf, function()
    vim.cmd("silent! keepjumps keepalt edit!")
    vim.cmd("silent! keepjumps undo")
    vim.cmd("silent! noautocmd keepalt file " .. vim.fn.fnameescape(api.nvim_buf_get_name(buf)))
  end)
  -- Without an undo history, or with autocommands that change what was read.
  if not vim.deep_equal(api.nvim_buf_get_lines(buf, 0, -1, false), edits) then
    api.nvim_buf_set_lines(buf, 0, -1, false, edits)
  end
  vim.bo[buf].modified = true
end

---Lets Neovim compare the buffer with its file. Modified buffers keep what they have, and Neovim
---takes note of the file's new time, so that no W12 follows.
---@param buf integer
---@param choice "edit"|""
---@return boolean differed
local function check(buf, choice)
  local differed = false
  local autocmds = {}
  local function on(event, callback)
    autocmds[#autocmds + 1] = api.nvim_create_autocmd(event, { buffer = buf, callback = callback })
  end
  on("FileChangedShell", function()
    differed = true
    local gone = vim.v.fcs_reason == "deleted"
    vim.v.fcs_choice = gone and "" or choice
  end)
  on("FileChangedShellPost", function()
    differed = true
  end)
  pcall(vim.cmd, ("silent! checktime %d"):format(buf))
  for _, autocmd in ipairs(autocmds) do
    pcall(api.nvim_del_autocmd, autocmd)
  end
  return differed
end

---Did Neovim reload by itself (it looks whenever a window comes to show the buffer), by the old
---'fileformat'? Then a file that became CRLF shows ^M, and one that is LF now would be written CRLF.
---@param buf integer
---@return boolean
local function is_misread(buf)
  local file = io.open(api.nvim_buf_get_name(buf), "rb")
  local head = file and file:read(SNIFF) or ""
  if file then
    file:close()
  end
  local before_end = head:match("(.?)\n")
  local format = vim.bo[buf].fileformat
  return before_end ~= nil and format == (before_end == "\r" and "unix" or "dos")
end

---@param buf integer
local function read_afresh(buf)
  api.nvim_buf_call(buf, function()
    vim.cmd("silent! keepjumps keepalt edit!")
  end)
end

---@param buf integer without edits that would be lost
local function take_over(buf)
  local views = views_of(buf)
  if is_apart(buf) then
    read_afresh(buf)
  else
    -- With 'autoread' Neovim reloads on its own terms; asked, it answers to our "edit", which looks
    -- at the file afresh.
    local autoread = vim.go.autoread
    vim.go.autoread = false
    local differed = check(buf, "edit")
    vim.go.autoread = autoread
    if not differed and not vim.bo[buf].modified and is_misread(buf) then
      read_afresh(buf)
    end
  end
  restore_views(views)
  stale[buf] = nil
end

---@param buf integer
local function mark_stale(buf)
  if stale[buf] then
    return
  end
  stale[buf] = true
  -- Not `once`, which removes only the event that came.
  local ended = api.nvim_create_augroup("claude-code.reload." .. buf, { clear = true })
  api.nvim_create_autocmd({ "BufWritePost", "BufReadPost", "BufWipeout" }, {
    group = ended,
    buffer = buf,
    callback = function()
      stale[buf] = nil
      api.nvim_del_augroup_by_id(ended)
    end,
  })
end

---@param buf integer modified
---@return boolean differed since Neovim last compared
local function compare(buf)
  if not is_apart(buf) then
    return check(buf, "")
  elseif stale[buf] then
    return false
  end
  local views = views_of(buf)
  meet_file(buf)
  restore_views(views)
  return true
end

---@param buf integer modified
local function keep_edits(buf)
  if compare(buf) then
    mark_stale(buf)
    local base = path.base(api.nvim_buf_get_name(buf))
    notify.warn(
      base .. " changed on disk; your unsaved edits are kept. :e! takes the file, :w! yours"
    )
  end
end

---Does this buffer hold edits over an older state of the file?
---@param buf integer
---@return boolean
function M.is_stale(buf)
  return stale[buf] == true and vim.bo[buf].modified
end

---What is about to be written holds the unsaved edits that the buffer has now: it is to be taken
---over like that of an unmodified one (:undo leads back to the edits).
---@param buf integer
function M.let_go(buf)
  covered[buf] = { tick = api.nvim_buf_get_changedtick(buf), till = uv.now() + WATCH_MS }
end

---@param buf integer
---@return boolean
local function has_edits(buf)
  local cover = covered[buf]
  local is_covered = cover
    and cover.tick == api.nvim_buf_get_changedtick(buf)
    and uv.now() <= cover.till
  return vim.bo[buf].modified and not is_covered
end

---The file was written outside: its buffer shows it now, unless it has unsaved edits.
---@param params { path: string }
---@return true
function M.now(params)
  local buf = path.loaded_buffer(params.path)
  if not buf or not uv.fs_stat(api.nvim_buf_get_name(buf)) then
    return true
  elseif blocked.in_command_window() then
    blocked.retry(function()
      M.now(params)
    end)
    return true
  end
  if has_edits(buf) then
    keep_edits(buf)
  else
    take_over(buf)
  end
  require("claude-code.editor.sync").touch()
  return true
end

---Entering a buffer, Neovim looks whether its file has changed, and asks (W11, W12). Nobody may be
---there to answer.
---@param buf integer
function M.before_entering(buf)
  local name = path.of_buffer(buf)
  if name then
    M.now({ path = name })
  end
end

---@param name string
local function unwatch(name)
  local watch = watches[name]
  if watch then
    watches[name] = nil
    watch.timer:stop()
    watch.timer:close()
  end
end

---@param name string
---@param written boolean the writer is known to be through
local function look(name, written)
  local watch = watches[name]
  local now = signature(name)
  -- Otherwise the same twice in a row tells that it is.
  if now ~= watch.shown and (written or now == watch.last) then
    watch.shown = now
    M.now({ path = name })
  end
  watch.last = now
end

---@param name string
local function look_again(name)
  local watch = watches[name]
  if not watch then
    return
  end
  local waited = uv.now() - watch.started
  look(name, false)
  if waited > WATCH_MS then
    unwatch(name)
  elseif waited > QUICK_MS then
    watch.timer:set_repeat(SLOW_STEP_MS)
  end
end

---The file is about to be written outside, perhaps more than once (a formatter in a hook): its
---buffer follows for the next seconds.
---@param params { path: string }
---@return true
function M.watch(params)
  require("claude-code.editor.channel").on_detach(M.stop)
  local name = path.normal(params.path)
  -- Asked for twice: the write may have come in between, so the older state counts.
  local shown = watches[name] and watches[name].shown or signature(name)
  unwatch(name)
  local timer = assert(uv.new_timer())
  watches[name] = { timer = timer, shown = shown, started = uv.now() }
  timer:start(
    QUICK_STEP_MS,
    QUICK_STEP_MS,
    vim.schedule_wrap(function()
      look_again(name)
    end)
  )
  return true
end

---Takes over at once what was written to watched files: the executable asks because the CLI, which
---writes before it asks, wants to know how things stand.
function M.catch_up()
  for name in pairs(watches) do
    look(name, true)
  end
end

---Ends all watching.
function M.stop()
  for _, name in ipairs(vim.tbl_keys(watches)) do
    unwatch(name)
  end
end

return M
