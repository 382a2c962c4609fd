--- Makes Neovim notice that a buffer's file has changed, without its prompts (W11, W12, W13, W16).
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")

---Describes the autocommand of documents/supply.lua.
local M = { OWN = "claude-code reads the file" }

---@return vim.api.keyset.get_autocmds.ret[] autocommands for this buffer, without our own
function M.autocommands(buf, event)
  local name = api.nvim_buf_get_name(buf)
  return vim.tbl_filter(function(autocmd)
    if autocmd.desc == M.OWN then
      return false
    elseif autocmd.buflocal then
      return autocmd.buffer == buf
    end
    -- Neovim matches a pattern without a slash against the last part of the name.
    local subject = autocmd.pattern:find("/", 1, true) and name or vim.fs.basename(name)
    local ok, found = pcall(function()
      return vim.fn.match(subject, vim.fn.glob2regpat(autocmd.pattern)) >= 0
    end)
    return found or not ok
  end, api.nvim_get_autocmds({ event = event }))
end

---Compares the file's time with the one that Neovim knows, which is then up to date for :checktime, and after "edit"
---also for :w (W12).
---@param decide? fun(is_wanted: boolean): "edit"|"" called if they differ; "edit" lets Neovim reload the buffer.
---is_wanted is false if the file is gone, or if the user's own autocommand decided against a reload
---@return boolean differed
function M.compare(buf, decide)
  local stat = vim.uv.fs_stat(api.nvim_buf_get_name(buf))
  if stat and stat.type ~= "file" then
    return false -- Neovim would read it, and wait forever for a FIFO.
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
  -- With 'autoread' Neovim would not ask `decide`, and would keep the 'fileformat' of the old text.
  vim.bo[buf].autoread = false
  pcall(vim.cmd.checktime, { count = buf, mods = { emsg_silent = true } })
  events:stop()
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].autoread = own
  end
  return differed
end

---Makes the buffer count as just written: Neovim takes the file's time, so that neither :checktime nor :w asks (W11,
---W12, W13), and clears 'modified'. Older undo states count as modified. It relies on what Neovim 0.10 to 0.12 do after
---a BufWriteCmd: buf_write() in bufwrite.c calls ml_timestamp(), clears BF_NEW and BF_NOTEDITED, and calls
---u_unchanged(). :checktime alone updates the time that it compares itself, but not the one that :w compares.
---@return boolean taken false if a plugin has a BufWriteCmd
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

---Has Neovim never read the buffer's file, because it was missing? Then :checktime asks (W13), or ignores the file
---after `:file`, and no autocommand can answer. Only the output of :file shows this state.
function M.has_never_read(buf)
  local text = api.nvim_buf_call(buf, function()
    return vim.fn.execute("file")
  end)
  local flags = text:match('^.*"(.-)$') or "" -- The name before them may contain anything.
  return vim.iter({ "[New]", "[Not edited]" }):any(function(flag)
    return flags:find(vim.fn.gettext(flag), 1, true) ~= nil
  end)
end

---Makes Neovim notice that a file exists that it has never read, and keeps the buffer's edits: :redo shows the file's
---text, and only :w! overwrites the file (E13).
---@param buf integer modified
function M.note_file(buf)
  local edits = api.nvim_buf_get_lines(buf, 0, -1, false)
  api.nvim_buf_call(buf, function()
    vim.cmd("silent! keepjumps keepalt edit!")
    vim.cmd("silent! keepjumps undo")
    local mods = { emsg_silent = true, noautocmd = true, keepalt = true }
    vim.cmd.file({ api.nvim_buf_get_name(buf), magic = { file = false }, mods = mods })
  end)
  -- The buffer may have no undo history, and autocommands may change the text that was read.
  if not vim.deep_equal(api.nvim_buf_get_lines(buf, 0, -1, false), edits) then
    api.nvim_buf_set_lines(buf, 0, -1, false, edits)
  end
  vim.bo[buf].modified = true
end

return M
