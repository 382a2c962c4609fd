--- Keeps commands without a ! from ending Neovim while Claude works, asks something, or proposes an edit. A modified
--- buffer makes Neovim refuse (E162), and its name is the reason.
local api = vim.api
local label = require("claude-code.sessions.label")

local M = {}

---@return string? reason against the exit, a sentence without a period
local function find_reason()
  local count = require("claude-code.sessions.attention").count_diffs()
  if count > 0 then
    return count == 1 and "leaving rejects a proposed change, which waits for your answer"
      or ("leaving rejects %d proposed changes, which wait for your answer"):format(count)
  end
  local busy = vim.tbl_filter(function(row)
    return row.buf ~= nil and label.is_busy(row)
  end, label.own())
  return #busy > 1 and ("%d Claude sessions are busy"):format(#busy)
    or busy[1] and label.sentence(busy[1])
end

local function refuse()
  local reason = find_reason()
  if not reason then
    return
  end
  local origin = { win = api.nvim_get_current_win(), terminal = false }
  local previous, buf = vim.fn.win_getid(vim.fn.winnr("#")), api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, "claude-code://" .. reason)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].modified = "acwrite", "wipe", true
  -- `:wqall` writes the buffer, which stays modified.
  api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      require("claude-code.messages.notify").warn(reason .. "; :qa! ends Neovim anyway")
    end,
  })
  -- Neovim would show a hidden buffer in the user's window.
  local config = { relative = "editor", row = 0, col = 0, width = 1, height = 1, hide = true }
  local win = api.nvim_open_win(buf, false, config)
  vim.schedule(function()
    pcall(api.nvim_win_close, win, true)
    require("claude-code.editor.windows.focus").give_back(origin, previous)
  end)
end

function M.watch()
  require("claude-code.lib.autocommands").new("sessions.leaving"):on("ExitPre", refuse)
end

return M
