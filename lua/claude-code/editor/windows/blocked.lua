--- Windows cannot be rearranged at any moment: not in the command-line window, nor while a command
--- line, an operator or an answer is being typed; and nobody's typing may lose its window.
local api = vim.api

---How soon a moment without any event (a locked text, E565) is tried again, in ms.
local RETRY_MS = 200

local M = {}

---Why nothing can be done while `in_command_window`, for a person.
M.COMMAND_WINDOW = "Neovim's command-line window is open; :q closes it"

---Is it open (`q:`)? Neovim then refuses most of what concerns other buffers (E11).
---@return boolean
function M.in_command_window()
  return vim.fn.getcmdwintype() ~= ""
end

---@alias claude-code.Moment
---| "free" normal or terminal mode: windows and focus may change
---| "typing" insert, visual, select mode: other windows may change, focus may not
---| "blocked" nothing may change now

---@return claude-code.Moment
function M.moment()
  if M.in_command_window() then
    return "blocked"
  end
  local mode = api.nvim_get_mode().mode
  if mode == "n" or mode == "nt" or mode == "t" then
    return "free"
  elseif mode:find("^[ivVsSR\22\19]") or mode:find("^ni") or mode == "ntT" then
    return "typing"
  end
  return "blocked"
end

---Calls once, soon after the moment may have changed; the callee looks for itself.
---@param callback fun()
---@param ms? integer when to call at the latest
function M.later(callback, ms)
  local done = false
  local timer = assert(vim.uv.new_timer())
  local group = api.nvim_create_augroup("claude-code.calm." .. tostring(timer), { clear = true })
  local function run()
    if done then
      return
    end
    done = true
    timer:stop()
    timer:close()
    pcall(api.nvim_del_augroup_by_id, group)
    callback()
  end
  api.nvim_create_autocmd({ "ModeChanged", "CmdlineLeave", "CmdwinLeave" }, {
    group = group,
    callback = function()
      vim.schedule(run)
    end,
  })
  timer:start(ms or RETRY_MS, 0, vim.schedule_wrap(run))
end

---Is this Neovim refusing for now, rather than a fault?
---@param message any
---@return boolean
function M.is_refusal(message)
  message = tostring(message)
  return message:find("E565:", 1, true) ~= nil or message:find("E11:", 1, true) ~= nil
end

---Leaves insert, visual or select mode; takes effect when Neovim gets to it.
function M.stop_typing()
  local mode = api.nvim_get_mode().mode
  if mode:find("^[iR]") then
    vim.cmd.stopinsert()
  else
    api.nvim_feedkeys(vim.keycode("<C-\\><C-n>"), "n", false)
  end
end

return M
