--- Types text into the box of a CLI that has the mod, as its user would. Runs in tasks.
local mod = require("claude-code.sessions.mod")
local notify = require("claude-code.messages.notify")
local task = require("claude-code.lib.task")

local M = {}

--- How long Enter may follow a change of the draft: the CLI (2.1.332) shows no question in the first 600 ms.
local MAX_ENTER_MS, MAX_TRIES = 300, 5
--- The time that a loaded machine may need for a key.
local MAX_KEY_MS = 1000
local LOOK_MS = 10
--- Keys. A paste is never a command of the CLI's keymaps.
local BACKSPACE, BLANK, ENTER = "\127", "\27[200~ \27[201~", "\r"
--- The CLI abbreviates a longer text in its box.
local MAX_WHOLE = 10000
--- The CLI ends for these words.
local ENDS = { "exit", "quit", ":q", ":q!", ":wq", ":wq!" }

--- Reads the draft until it passes the test.
---@param test fun(draft: { text: string, cursor: integer }): boolean
---@param ms integer 0: reads it once
---@return boolean passed in time
local function wait_for_draft(key, ms, test)
  local limit = vim.uv.hrtime() + ms * 1e6
  repeat
    local failure, draft = task.await(function(done)
      mod.draft(key, done)
    end)
    local passes = not failure and test(draft)
    if failure or passes then
      return passes and (ms == 0 or vim.uv.hrtime() < limit)
    end
    task.sleep(LOOK_MS)
  until vim.uv.hrtime() > limit
  return false
end

local function is_blank(draft)
  return not draft.text:find("%S")
end

--- After `!` in the empty box, which the draft does not show, the CLI runs the next text in a shell.
local function is_in_shell_mode(buf)
  local above = ""
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, -20, -1, false)) do
    if vim.startswith(above, "─") and vim.startswith(line, "!") then
      return true
    end
    above = line
  end
  return false
end

---@return boolean
function M.is_empty(key)
  return wait_for_draft(key, 0, is_blank)
end

---@return boolean is there a box to type into, and does the CLI take the text for a prompt?
function M.can_submit(row, text)
  local is_bare_slash = (text .. " "):find("^%s*/[^%w]") ~= nil
  return row.buf ~= nil and not is_bare_slash and not vim.list_contains(ENDS, vim.trim(text))
end

--- Types a prompt where the user has typed nothing. To such a prompt the CLI (2.1.332) adds plan mode's rules, the
--- selection and mentioned files, which a mod's prompt lacks; and it calls none a paste, as it does long pastes.
---@return boolean? is_typed nil: it is not, so submit it in another way
---@return claude-code.ModFailure? failure perhaps it was typed
function M.submit(key, row, text, options)
  local channel = vim.bo[row.buf].channel
  local function press(keys)
    vim.api.nvim_chan_send(channel, keys)
  end
  local blanks = 1
  local function has_room(draft)
    blanks = #draft.text + 1
    return is_blank(draft)
  end
  if not wait_for_draft(key, 0, has_room) then
    return nil
  elseif is_in_shell_mode(row.buf) then
    press(BACKSPACE) -- leaves it; else it would remove the selection from the box
  end
  -- A blank that arrives shows that the box has the keys, and no list of the CLI.
  press(BLANK)
  local function has_blanks(draft)
    return is_blank(draft) and #draft.text == blanks
  end
  if not wait_for_draft(key, MAX_KEY_MS, has_blanks) then
    return nil
  elseif options.with_selection then
    require("claude-code.editor.selection").latest({ for_client = true })
  end
  text = text:gsub("%s+$", "")
  local failure, draft = task.await(function(done)
    mod.replace(key, text, done)
  end)
  if not draft then
    return nil, failure and failure.code == "gone" and failure or nil
  end
  -- The next blank shows that the user has typed nothing since. It also closes a list of files below a mention, and
  -- keeps a backslash from joining lines.
  local cursor = draft.cursor
  local function has_blank(now)
    return vim.endswith(now.text, " ") and (now.cursor == cursor or #text > MAX_WHOLE)
  end
  for _ = 1, MAX_TRIES do
    press(BLANK)
    cursor = cursor + 1
    if wait_for_draft(key, MAX_ENTER_MS, has_blank) then
      press(ENTER)
      if wait_for_draft(key, MAX_KEY_MS, is_blank) then
        return true
      end
      break
    end
  end
  notify.warn(("%s is in Claude's prompt: press Enter there"):format(options.name), "send")
  return true
end

return M
