--- The user types a command that ends Neovim while Claude works, asks something, or waits for the answer to a
--- proposal: one question, unless the command has a !.
local api = vim.api
local label = require("claude-code.sessions.label")

local M = {
  --- Does the command that is being executed write all files first?
  writes_all = false,
}

local ENDING = { qall = true, quitall = true, wqall = true, xall = true }
local ENDING_LAST = { exit = true, quit = true, wq = true, xit = true }
local WRITING = { wqall = true, xall = true }

--- Finds the command in a line that ends Neovim.
---@param line string
---@return vim.api.keyset.cmd?
local function ending(line)
  -- In the only window of a diff :q and :wq answer that.
  local is_last = #api.nvim_list_tabpages() == 1
    and #api.nvim_tabpage_list_wins(0) == 1
    and not vim.b.claude_code_file
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
    return count == 1 and "a proposed change waits for your answer"
      or ("%d proposed changes wait for your answer"):format(count)
  end
  local busy = vim.tbl_filter(function(row)
    return row.buf ~= nil and label.is_busy(row)
  end, label.own())
  return #busy > 1 and ("%d Claude sessions are busy"):format(#busy)
    or busy[1] and label.sentence(busy[1])
end

--- What the user has agreed to, until it is executed.
---@type string?
local agreed

---@param line string
---@param reason string
local function ask(line, reason)
  vim.ui.select({ "Leave", "Stay" }, { prompt = reason }, function(_, index)
    if index == 1 then
      agreed = line
      -- As if it was typed again: Neovim may have more to say.
      api.nvim_feedkeys(vim.keycode("<C-\\><C-n>:") .. line .. "\r", "n", false)
    end
  end)
end

--- A command line is about to be executed.
local function check()
  local line = vim.fn.getcmdline()
  local command = ending(line)
  local reason = command and not command.bang and line ~= agreed and find_reason()
  agreed = nil
  if reason then
    vim.cmd("let v:event.abort = v:true")
    vim.schedule(function()
      ask(line, reason)
    end)
  elseif command and WRITING[command.cmd] then
    M.writes_all = true
    vim.schedule(function()
      M.writes_all = false
    end)
  end
end

--- Follows the command lines from the first call on.
function M.watch()
  require("claude-code.lib.autocommands").new("sessions.leaving"):on("CmdlineLeave", function()
    if not vim.v.event.abort then
      check()
    end
  end, { pattern = ":" })
end

return M
