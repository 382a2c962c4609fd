--- A prompt for Claude in a Markdown buffer: `:wq` sends it, `:q!` keeps it as a draft.
local api = vim.api
local draft = require("claude-code.editor.prompt.draft")
local notify = require("claude-code.messages.notify")
local winbar = require("claude-code.editor.windows.winbar")

local M = { NAME = "claude-code://prompt/" }

--- Milliseconds without a change after which the draft is kept.
local KEEP_MS = 500
--- Begins the window's bar.
local MARK = "%(%(%(%)%)%)"

---@class claude-code.Prompt
---@field n integer number of the session
---@field buf integer
---@field source integer the buffer in which the user was, of which `{selection}` and the like speak
---@field is_written boolean in this moment: what closes the window now sends it

---@param prompt claude-code.Prompt
local function lines_of(prompt)
  return api.nvim_buf_get_lines(prompt.buf, 0, -1, true)
end

---@param prompt claude-code.Prompt
local function keep(prompt)
  local problem = api.nvim_buf_is_loaded(prompt.buf) and draft.keep(prompt.n, lines_of(prompt))
  if problem then
    notify.error("the draft of your prompt could not be kept: " .. problem)
  end
end

--- Claude receives it; what it does not receive stays a draft.
---@param prompt claude-code.Prompt
local function send(prompt, lines)
  local text = vim.trim(table.concat(lines, "\n"))
  if text == "" then
    return
  end
  require("claude-code.editor.prompt.expand").run(text, prompt.source, function(expanded)
    local terminal = require("claude-code.terminal.prompt")
    if terminal.refuse_while_asking("your prompt", prompt.n) then
      return
    elseif terminal.paste(expanded, true, prompt.n) then
      draft.keep(prompt.n, {})
    else
      notify.warn("your prompt is kept as a draft, for Claude does not run; :Claude starts it")
    end
  end)
end

--- No window shows it any more. `:wq` writes and closes in one moment; a plugin that saves by itself does not.
---@param prompt claude-code.Prompt
local function on_close(prompt)
  local lines = lines_of(prompt)
  keep(prompt)
  if prompt.is_written and vim.v.exiting == vim.NIL then
    vim.schedule(function()
      send(prompt, lines)
    end)
  elseif table.concat(lines):match("%S") then
    notify.info("your prompt is kept; :Claude prompt shows it, and :wq there sends it")
  end
end

---@param prompt claude-code.Prompt
local function follow(prompt)
  local buf = prompt.buf
  local events = require("claude-code.lib.autocommands").new("prompt." .. buf)
  local keep_soon, cancel = require("claude-code.lib.timer").debounce(KEEP_MS, function()
    keep(prompt)
  end)
  events:on("BufWriteCmd", function()
    keep(prompt)
    vim.bo[buf].modified, prompt.is_written = false, true
    vim.schedule(function()
      prompt.is_written = false
    end)
  end, { buffer = buf })
  events:on({ "TextChanged", "TextChangedI" }, keep_soon, { buffer = buf })
  events:on("BufWinLeave", function()
    cancel()
    on_close(prompt)
  end, { buffer = buf })
  events:on("VimLeavePre", function()
    keep(prompt)
  end)
  events:on("BufWipeout", function()
    events:stop()
  end, { buffer = buf })
end

---@param prompt claude-code.Prompt
local function show_bar(prompt, win)
  local parts = {
    { "Prompt for " .. require("claude-code.sessions.label").of(prompt.n), "Bar" },
    { "  :wq sends   :q! keeps the draft", "Note" },
  }
  winbar.show(win, MARK, winbar.render(parts, "ClaudeCodeTranscript"))
end

---@param n integer number of the session
---@return claude-code.Prompt
local function new(n)
  local buf = api.nvim_create_buf(false, true)
  local prompt = { n = n, buf = buf, source = api.nvim_get_current_buf(), is_written = false }
  local lines = draft.read(n)
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  api.nvim_buf_set_name(buf, M.NAME .. n)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = "acwrite", "wipe", false
  -- A draft has not been sent, so `ZZ` writes it.
  vim.bo[buf].modified = #lines > 0
  vim.bo[buf].filetype = "markdown"
  follow(prompt)
  require("claude-code.editor.prompt.completion").attach(buf)
  return prompt
end

--- Shows the prompt of a session below Claude's window, with what was begun.
---@param n? integer number of the session; the current one, or the next to be started, if left out
function M.open(n)
  n = n or require("claude-code.terminal.running").current() or 1
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_buf_get_name(api.nvim_win_get_buf(win)) == M.NAME .. n then
      return api.nvim_set_current_win(win)
    end
  end
  local prompt = new(n)
  local win = require("claude-code.editor.prompt.window").open(prompt.buf, n)
  show_bar(prompt, win)
  vim.cmd.normal({ "G$", bang = true })
end

return M
