--- Types text into the box of a CLI that has the mod, as its user would. Runs in tasks.
local mod = require("claude-code.sessions.mod")
local notify = require("claude-code.messages.notify")
local task = require("claude-code.lib.task")

local M = {}

---@return claude-code.ModFailure?
function M.fill(key, text)
  return task.await(function(done)
    mod.fill(key, text, done)
  end)
end

---@return string? text nil: the CLI does not answer
local function draft_of(key)
  local failure, draft = task.await(function(done)
    mod.draft(key, done)
  end)
  return not failure and draft.text or nil
end

--- The CLI (2.1.332) shows no dialog within 600 ms after the draft has changed. Neovim may be busy in between.
local MAX_FILL_MS, MAX_FILLS = 300, 5
local TAKEN_MS, MAX_LOOKS = 50, 20

--- Fills the CLI's box and presses Enter before a dialog can appear that would take it.
---@return boolean? is_typed nil: the text is in the box, and Enter was not pressed
---@return claude-code.ModFailure? failure
local function fill_and_submit(key, row, text)
  local channel = vim.bo[row.buf].channel
  -- Leaves the shell mode of an empty box, and the search in the history.
  vim.api.nvim_chan_send(channel, "\127")
  for _ = 1, MAX_FILLS do
    local begun = vim.uv.hrtime()
    local failure = M.fill(key, text)
    if failure then
      return false, failure
    elseif vim.uv.hrtime() - begun < MAX_FILL_MS * 1e6 then
      -- The blank closes a list of files below a mention, and keeps a backslash from joining lines.
      vim.api.nvim_chan_send(channel, "\27[200~ \27[201~\r")
      return true
    end
    text = " "
  end
end

--- Types a prompt where the user has typed nothing. To such a prompt the CLI (2.1.332) adds plan mode's rules, the
--- selection and mentioned files, which a mod's prompt lacks; and it calls none a paste, as it does long pastes.
---@return boolean? is_typed nil: it is not, so submit it in another way
---@return claude-code.ModFailure? failure perhaps it was typed
function M.submit(key, row, text, options)
  if (draft_of(key) or "?"):find("%S") then
    return nil
  elseif options.with_selection then
    require("claude-code.editor.selection").latest({ for_client = true })
  end
  local is_typed, failure = fill_and_submit(key, row, text)
  if failure then
    return nil, failure.code == "gone" and failure or nil
  end
  local left = text
  for _ = 1, is_typed and MAX_LOOKS or 0 do
    left = draft_of(key) or ""
    if left == "" then
      return true
    end
    task.sleep(TAKEN_MS)
  end
  if not vim.startswith(vim.trim(left), vim.trim(text):sub(1, 20)) then
    return nil -- something like the search in the history has replaced it
  end
  notify.warn(("%s is in Claude's prompt: press Enter there"):format(options.name), "send")
  return true
end

--- Can the text be typed? The CLI (2.1.332) runs the command of a list for a lone slash, and ends for these words.
function M.can_submit(row, text)
  local words =
    { exit = true, quit = true, [":q"] = true, [":q!"] = true, [":wq"] = true, [":wq!"] = true }
  return row.buf ~= nil and not words[vim.trim(text)] and not (text .. " "):find("^%s*/[^%w]")
end

return M
