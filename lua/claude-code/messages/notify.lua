--- Logs messages, and shows them with the plugin's name a moment later. A notification plugin may have loaded by then,
--- and Neovim does not blame the running script for an error.
local M = {}

local NAME = "claude-code.nvim"
local levels = vim.log.levels

--- In cells. A shorter line has no room for the plugin's name. With 80 columns a line beside 'showcmd' is longer.
local MIN_NAMED = 60

--- A syntax pattern that takes too much memory for a line (E363) would raise an error, and cause a hit-enter prompt.
---@return boolean drawn
function M.redraw()
  return (pcall(vim.cmd.redraw))
end

---@param text string in one line, with the plugin's name, which a narrow screen does not show
local function fit(text)
  local cells = math.max(vim.v.echospace, 2)
  local line = cells < MIN_NAMED and text:sub(#NAME + 3) or text
  if vim.fn.strdisplaywidth(line) <= cells then
    return line
  end
  return vim.fn.printf(("%%.%dS"):format(cells - 1), line):gsub("[%s;:,(]+$", "") .. "…"
end

--- Adds the whole text to `:messages`. The next text replaces it on screen.
local function keep(text, highlight)
  local shortmess, mods = vim.o.shortmess, { noautocmd = true }
  vim.cmd.set({ "shortmess+=T", mods = mods })
  vim.cmd.echohl(highlight)
  vim.cmd.echomsg({ vim.fn.string(text) })
  vim.cmd.echohl("None")
  vim.cmd.set({ "shortmess=" .. shortmess, mods = mods })
  M.redraw()
end

local GROUP = "claude-code.line"

--- An older message may be outdated, and is not shown again.
local MAX_AGE_MS = 60000

--- With 'showmode' the name of a mode replaces the message. In visual and select mode Neovim (0.10.4, 0.12.4) first
--- shows the message for 3 s or until a key, and answers no RPC in that time. This draws the mode at once, and the
--- message again when the mode ends: in any window after terminal mode, otherwise only in the same window.
local function show_after_mode(chunks, mode)
  local win, at = vim.api.nvim_get_current_win(), vim.uv.now()
  local is_terminal = mode == "t"
  if not is_terminal then
    M.redraw()
  end
  vim.api.nvim_create_autocmd("ModeChanged", {
    group = GROUP,
    pattern = { "*:n", "t:nt" },
    once = true,
    callback = vim.schedule_wrap(function()
      local is_here = is_terminal or vim.api.nvim_get_current_win() == win
      local is_normal = vim.startswith(vim.api.nvim_get_mode().mode, "n")
      if is_here and is_normal and vim.uv.now() - at < MAX_AGE_MS then
        vim.api.nvim_echo(chunks, false, {})
      end
    end),
  })
end

--- Fits the text into Neovim's message line: at a hit-enter prompt Neovim would answer no RPC, and Claude would wait.
---@param highlight? string nil for a text that `:messages` does not keep
local function show_line(text, highlight)
  local line = (NAME .. ": " .. text):gsub("%s*\n%s*", " "):gsub("%c", " ")
  -- After a redraw Neovim overwrites the previous message instead of scrolling it.
  M.redraw()
  local chunks = { { fit(line), highlight } }
  -- Without a line for messages, Neovim (0.10.4, 0.12.4) would ask for Enter.
  local is_kept = highlight and chunks[1][1] ~= line and vim.o.cmdheight > 0
  if is_kept then
    keep(line, highlight)
  end
  vim.api.nvim_echo(chunks, highlight ~= nil and not is_kept, {})
  vim.api.nvim_create_augroup(GROUP, { clear = true })
  local mode = vim.api.nvim_get_mode().mode
  if vim.o.showmode and mode:find("^[vV\22sS\19iRt]") then
    show_after_mode(chunks, mode)
  end
end

--- Is vim.notify Neovim's own? That of a notification plugin may be a callable table, or a result of
--- vim.schedule_wrap() (mini.notify).
local function is_builtin()
  local info = type(vim.notify) == "function" and debug.getinfo(vim.notify, "Su")
  -- Neovim 0.12 has "?", as its Lua is precompiled.
  return info ~= false
    and not info.isvararg
    and (
      info.source == "?"
      or info.source:find("^@?vim/_") ~= nil
      or info.source:find("/lua/vim/_", 1, true) ~= nil
    )
end

--- Does Neovim draw messages? A UI that draws its own messages, and stderr without a UI, need no Enter.
local function is_drawn_here()
  local uis = vim.api.nvim_list_uis()
  return #uis > 0 and not vim.iter(uis):any(function(ui)
    return ui.ext_messages
  end)
end

local records = {} ---@type table<string, table?> what vim.notify returned for the last message of each topic

--- Replaces the last message of the topic by `id` (snacks.nvim), or by its record (nvim-notify, noice.nvim).
local function show_by_plugin(text, level, topic)
  if not topic then
    return vim.notify(text, level, { title = NAME })
  end
  local record = vim.notify(text, level, {
    title = NAME,
    id = "claude-code." .. topic,
    replace = records[topic],
    on_close = function()
      records[topic] = nil
    end,
  })
  records[topic] = type(record) == "table" and record or nil
end

local pending = {} ---@type table<string, true> messages to show: two parts of the plugin may report the same

---@return fun(text: string, topic?: string) a notification plugin replaces the last message of the topic
local function notifier(level, name, highlight)
  local log = require("claude-code.messages.log")
  local function show(text, topic)
    if not is_builtin() then
      return show_by_plugin(text, level, topic)
    elseif not is_drawn_here() then
      return vim.notify(NAME .. ": " .. text, level, { title = NAME })
    end
    show_line(text, highlight)
  end
  return function(text, topic)
    text = text:gsub("[%z\1-\8\11-\31\127]", function(control)
      return ("<%02x>"):format(control:byte())
    end)
    if pending[text] then
      return
    end
    pending[text] = true
    log[name](text)
    vim.schedule(function()
      pending[text] = nil
      show(text, topic)
    end)
  end
end

--- Errors of Neovim that the plugin cannot prevent, by number.
M.REFUSALS = {
  E11 = "Neovim's command-line window is open; :q closes it",
  E36 = "there is no room for another window; close a window, or enlarge Neovim",
  E37 = "this window's text has unsaved changes; :w writes it",
  E1513 = "this window is pinned to its buffer ('winfixbuf'); go to another one",
}

---@return string? sentence
function M.refusal(failure)
  return M.REFUSALS[tostring(failure):match("%f[%w]E%d+")]
end

--- Calls `work`. Shows a refusal of Neovim as a message, and throws any other error with its traceback.
---@return boolean done, any result
function M.guard(work, ...)
  local ok, result = xpcall(work, debug.traceback, ...)
  local refusal = not ok and M.refusal(result)
  if refusal then
    require("claude-code.messages.log").warn(result)
    M.warn(refusal)
  elseif not ok then
    error(result, 0)
  end
  return ok, ok and result or nil
end

M.error = notifier(levels.ERROR, "error", "ErrorMsg")
M.warn = notifier(levels.WARN, "warn", "WarningMsg")
M.info = notifier(levels.INFO, "info", "None")

local warned = {} ---@type table<string, true>

---@param topic? string
function M.warn_once(text, topic)
  if not warned[text] then
    warned[text] = true
    M.warn(text, topic)
  end
end

--- Shows progress in a line that neither `:messages` nor the log keeps.
function M.progress(text)
  if #vim.api.nvim_list_uis() == 0 then
    io.stderr:write(("%s: %s\n"):format(NAME, text))
    return
  end
  show_line(text)
end

return M
