--- Reloads buffers whose file was written outside: without any prompt, unsaved edits kept.
local api, uv = vim.api, vim.uv
local blocked = require("claude-code.editor.windows.blocked")
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

---How much of a file is read to find out its line ends, in bytes.
local SNIFF = 8192

---How long a write that replaces unsaved edits may take to come, in ms.
local OVERWRITE_MS = 10000

local M = {}

---Buffers with edits whose file has changed on disk since they read it. `:w` would ask about them.
local stale = {} ---@type table<integer, true>

---Buffers whose unsaved edits, at this changedtick, are in what is about to be written.
local overwritable = {} ---@type table<integer, { tick: integer, till: number }>

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

---Has Neovim never read this buffer's file, since it was not there when the buffer was made? Then
---:checktime asks (W13), or does nothing after `:file`. No autocommand can answer, and only the text
---of :file shows it.
---@param buf integer
---@return boolean
local function is_never_read(buf)
  local text = api.nvim_buf_call(buf, function()
    return vim.fn.execute("file")
  end)
  -- Behind the name, which may hold anything.
  local flags = text:match('^.*"(.-)$') or ""
  return vim.iter({ "[New]", "[Not edited]" }):any(function(flag)
    return flags:find(vim.fn.gettext(flag), 1, true) ~= nil
  end)
end

---Lets Neovim know that the file is there, and keeps the edits: :redo leads to the
---file's text, and :w (E13) wants a ! to replace the file.
---@param buf integer modified
local function note_file(buf)
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
---learns the file's new time, so that W12 does not follow.
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

---Did Neovim reload by itself (it looks whenever a window begins to show the buffer), by the old
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
local function read_again(buf)
  api.nvim_buf_call(buf, function()
    vim.cmd("silent! keepjumps keepalt edit!")
  end)
end

---@param buf integer without edits that would be lost
local function take_over(buf)
  local views = views_of(buf)
  if is_never_read(buf) then
    read_again(buf)
  else
    -- With 'autoread' Neovim keeps the options of the old text, such as 'fileformat'. Without it, it
    -- asks by FileChangedShell, and "edit" finds them out again.
    local autoread = vim.go.autoread
    vim.go.autoread = false
    local differed = check(buf, "edit")
    vim.go.autoread = autoread
    if not differed and not vim.bo[buf].modified and is_misread(buf) then
      read_again(buf)
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
  if not is_never_read(buf) then
    return check(buf, "")
  elseif stale[buf] then
    return false
  end
  local views = views_of(buf)
  note_file(buf)
  restore_views(views)
  return true
end

---@param buf integer modified
local function keep_edits(buf)
  if compare(buf) then
    mark_stale(buf)
    local base = path.base(api.nvim_buf_get_name(buf))
    notify.warn(
      base .. " changed on disk; your unsaved edits are kept. :e! loads the file, :w! overwrites it"
    )
  end
end

---Does this buffer hold edits over an older state of the file?
---@param buf integer
---@return boolean
function M.is_stale(buf)
  return stale[buf] == true and vim.bo[buf].modified
end

---What is about to be written contains the unsaved edits that the buffer has now: the buffer is
---reloaded as an unmodified one is. :undo leads back to the edits.
---@param buf integer
function M.allow_overwrite(buf)
  overwritable[buf] = { tick = api.nvim_buf_get_changedtick(buf), till = uv.now() + OVERWRITE_MS }
end

---@param buf integer
---@return boolean
local function has_edits(buf)
  local allowed = overwritable[buf]
  local is_overwritable = allowed
    and allowed.tick == api.nvim_buf_get_changedtick(buf)
    and uv.now() <= allowed.till
  return vim.bo[buf].modified and not is_overwritable
end

---Shows a file that was written outside in its buffer, unless that has unsaved edits. If nothing was
---written, nothing changes.
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
  return true
end

---When a buffer is entered, Neovim looks whether its file has changed, and asks (W11, W12). Nobody
---may be there to answer.
---@param buf integer
function M.before_entering(buf)
  local name = path.of_buffer(buf)
  if name then
    M.now({ path = name })
  end
end

return M
