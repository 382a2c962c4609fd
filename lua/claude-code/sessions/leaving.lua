--- The user ends Neovim while Claude works, asks something, or waits for the answer to a proposal: one question,
--- unless the command has a !. Only what is typed can be stopped before it is executed. To `<Cmd>qa<CR>`, `ZZ` or a
--- client's request Neovim says that a buffer is modified (E162), and its name is the reason.
local api = vim.api
local label = require("claude-code.sessions.label")

local M = {}

local ENDING = { qall = true, quitall = true, wqall = true, xall = true }
local ENDING_LAST = { exit = true, quit = true, wq = true, xit = true }
local WRITING = { wqall = true, xall = true }

--- Finds the command in a line that ends Neovim.
---@param line string
---@return vim.api.keyset.cmd?
local function ending(line)
  -- In the only window of a diff :q and :wq answer that; a plan's gives its place to a file.
  local is_last = #api.nvim_list_tabpages() == 1
    and #api.nvim_tabpage_list_wins(0) == 1
    and not (vim.b.claude_code_file or vim.b.claude_code_plan)
  while line ~= "" do
    local ok, command = pcall(api.nvim_parse_cmd, line, {})
    if not ok then
      return nil
    elseif ENDING[command.cmd] or is_last and ENDING_LAST[command.cmd] then
      return command
    end
    line = command.nextcmd or ""
  end
end

---@return string? reason not to end now, a sentence without its end
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

--- `agreed`: the line that the user has agreed to, until it is executed. `allowed`: the name of the typed command that
--- is being executed, and may end Neovim. `refusal`: a window that nobody sees, of a modified buffer; until Neovim has
--- refused to end.
---@type { agreed?: string, allowed?: string, refusal?: integer }
local state = {}

---@param line string
---@param reason string
local function ask(line, reason)
  vim.ui.select({ "Leave", "Stay" }, { prompt = reason }, function(_, index)
    if index == 1 then
      state.agreed = line
      -- As if it was typed again: Neovim may have more to say.
      api.nvim_feedkeys(vim.keycode("<C-\\><C-n>:") .. line .. "\r", "n", false)
    end
  end)
end

--- A command line is about to be executed.
local function check()
  local line = vim.fn.getcmdline()
  local command = ending(line)
  local reason = command and not command.bang and line ~= state.agreed and find_reason()
  state.agreed = nil
  if reason then
    vim.cmd("let v:event.abort = v:true")
    vim.schedule(function()
      ask(line, reason)
    end)
  elseif command then
    state.allowed = command.cmd
    vim.schedule(function()
      state.allowed = nil
    end)
  end
end

---@return boolean does the command that is being executed write all files first?
function M.writes_all()
  return state.allowed ~= nil and WRITING[state.allowed] or false
end

--- Neovim is about to end, nobody knows whether with a !: then it ends in spite of this.
---@return boolean refused
function M.refuse()
  local reason = not (state.allowed or state.refusal) and find_reason()
  if reason then
    local origin = { win = api.nvim_get_current_win(), terminal = false }
    local previous, buf = vim.fn.win_getid(vim.fn.winnr("#")), api.nvim_create_buf(false, true)
    api.nvim_buf_set_name(buf, "claude-code://" .. reason)
    vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].modified = "acwrite", "wipe", true
    -- Without a window Neovim would show the buffer in the user's.
    local config = { relative = "editor", row = 0, col = 0, width = 1, height = 1, hide = true }
    state.refusal = api.nvim_open_win(buf, false, config)
    vim.schedule(function()
      pcall(api.nvim_win_close, state.refusal, true)
      require("claude-code.editor.windows.focus").give_back(origin, previous)
      state.refusal = nil
    end)
  end
  return state.refusal ~= nil
end

--- Follows the command lines from the first call on.
function M.watch()
  local events = require("claude-code.lib.autocommands").new("sessions.leaving")
  events:on("CmdlineLeave", function()
    if not vim.v.event.abort then
      check()
    end
  end, { pattern = ":" })
  events:on("ExitPre", M.refuse)
end

return M
