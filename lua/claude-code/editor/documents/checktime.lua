--- Compares a buffer's file with what Neovim knows of it, and takes over the file's time, without any prompt (W11, W12,
--- W13, W16).
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")

local M = {
  ---The description of the autocommand of documents/supply.lua, which belongs to no other plugin.
  OWN = "claude-code reads the file",
}

---@return vim.api.keyset.get_autocmds.ret[] autocommands of others that would run for this buffer
function M.autocommands(buf, event)
  local name = api.nvim_buf_get_name(buf)
  return vim.tbl_filter(function(autocmd)
    if autocmd.desc == M.OWN then
      return false
    elseif autocmd.buflocal then
      return autocmd.buffer == buf
    end
    -- A pattern without a slash is matched with the last part of the name.
    local subject = autocmd.pattern:find("/", 1, true) and name or vim.fs.basename(name)
    local ok, found = pcall(function()
      return vim.fn.match(subject, vim.fn.glob2regpat(autocmd.pattern)) >= 0
    end)
    return found or not ok
  end, api.nvim_get_autocmds({ event = event }))
end

---Calls `decide` if the file differs from what Neovim last compared: "" keeps the buffer, as without it, "edit" lets
---Neovim reload it. Neovim then knows the file's new time: :checktime stays silent, and after "edit" so does :w (W12).
---@param decide? fun(is_wanted: boolean): "edit"|"" is_wanted: false if the file is gone, or an autocommand of the
---user's decided against a reload, where Neovim would ask it
---@return boolean differed
function M.compare(buf, decide)
  local stat = vim.uv.fs_stat(api.nvim_buf_get_name(buf))
  if stat and stat.type ~= "file" then
    -- Neovim reads whatever has taken the file's place: with a FIFO it would wait forever.
    return false
  end
  local own = api.nvim_get_option_value("autoread", { buf = buf }) ---@type boolean?
  local is_autoread = own or (own == nil and vim.go.autoread)
  local is_asked = not is_autoread and #M.autocommands(buf, "FileChangedShell") > 0
  local events, differed = autocommands.new("checktime." .. buf), false
  events:on("FileChangedShell", function()
    differed = true
    local is_wanted = not is_asked or vim.v.fcs_choice ~= ""
    vim.v.fcs_choice = decide and decide(is_wanted and vim.v.fcs_reason ~= "deleted") or ""
  end, { buffer = buf })
  events:on("FileChangedShellPost", function()
    differed = true
  end, { buffer = buf })
  -- With it Neovim reloads without asking `decide`, and keeps the options of the old text, such as 'fileformat'.
  vim.bo[buf].autoread = false
  pcall(vim.cmd.checktime, { count = buf, mods = { emsg_silent = true } })
  events:stop()
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].autoread = own
  end
  return differed
end

---Lets Neovim take over the file's time, and clears 'modified'; every older undo state counts as modified. Neither W11,
---W12 nor W13 follows, from :checktime or :w. Neovim 0.10 to 0.12 do all that after a BufWriteCmd, which is to write
---the file: buf_write() in bufwrite.c then calls ml_timestamp(), clears BF_NEW and BF_NOTEDITED, and calls
---u_unchanged(). :checktime alone takes over the time that it compares, not the one that :w does.
---@return boolean taken false where a plugin has a BufWriteCmd
function M.take_time(buf)
  if #M.autocommands(buf, "BufWriteCmd") > 0 then
    return false
  end
  local readonly, ignored = vim.bo[buf].readonly, vim.o.eventignore
  vim.o.eventignore = ""
  local events = autocommands.new("take_time." .. buf)
  events:on("BufWriteCmd", function()
    vim.bo[buf].modified = false
  end, { buffer = buf })
  local ok = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("silent lockmarks keepalt write!")
  end)
  events:stop()
  vim.o.eventignore = ignored
  vim.bo[buf].readonly = readonly
  return ok and not vim.bo[buf].modified
end

---Has Neovim never read the buffer's file, since it was missing then? :checktime asks (W13), or does nothing after
---`:file`, and no autocommand can answer. Only the text of :file shows it.
function M.has_never_read(buf)
  local text = api.nvim_buf_call(buf, function()
    return vim.fn.execute("file")
  end)
  -- Behind the name, which may hold anything.
  local flags = text:match('^.*"(.-)$') or ""
  return vim.iter({ "[New]", "[Not edited]" }):any(function(flag)
    return flags:find(vim.fn.gettext(flag), 1, true) ~= nil
  end)
end

---Lets Neovim know that the file is there, and keeps the edits: :redo leads to the file's text, and only :w! replaces
---the file (E13).
---@param buf integer modified
function M.note_file(buf)
  local edits = api.nvim_buf_get_lines(buf, 0, -1, false)
  api.nvim_buf_call(buf, function()
    vim.cmd("silent! keepjumps keepalt edit!")
    vim.cmd("silent! keepjumps undo")
    local mods = { emsg_silent = true, noautocmd = true, keepalt = true }
    vim.cmd.file({ api.nvim_buf_get_name(buf), magic = { file = false }, mods = mods })
  end)
  -- Without an undo history, or with autocommands that change what was read.
  if not vim.deep_equal(api.nvim_buf_get_lines(buf, 0, -1, false), edits) then
    api.nvim_buf_set_lines(buf, 0, -1, false, edits)
  end
  vim.bo[buf].modified = true
end

return M
