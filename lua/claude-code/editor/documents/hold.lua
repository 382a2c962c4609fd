--- Holds back an edit by Claude that would conflict with unsaved edits, until the user writes or discards them or
--- lets Claude continue, or the PreToolUse hook has waited long enough (src/hooks/pre-edit.ts).
local api = vim.api
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local task = require("claude-code.lib.task")
local unsaved = require("claude-code.editor.documents.unsaved")

---After this time without a key, the user is away, and Claude does not wait.
local AWAY_MS = 5 * 60 * 1000

local M = {}

---Buffers that Claude waits for, by the function that ends the wait.
local held = {} ---@type table<fun(outcome: "written"|"as_before"), integer>
---Prompts that have made Claude wait once; it does not wait again.
local let_through = {} ---@type table<string, true>

local function has_unsaved(buf)
  return buf ~= nil and api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified
end

function M.is_needed(params)
  local buf = path.loaded_buffer(params.path)
  return #api.nvim_list_uis() > 0
    and require("claude-code.editor.input.keyboard").away_ms() < AWAY_MS
    and require("claude-code.config").get().wait_for_unsaved
    and not let_through[params.prompt or ""]
    and has_unsaved(buf)
    and unsaved.would_conflict(buf --[[@as integer]], params.text)
end

---@param wanted? integer buffer; nil for all
local function release(wanted, outcome)
  for done, buf in pairs(vim.deepcopy(held)) do
    if not wanted or buf == wanted then
      done(outcome)
    end
  end
end

local function follow()
  local events = require("claude-code.lib.autocommands").new("hold")
  events:on("BufWritePost", function(buf)
    release(buf, "written")
  end)
  -- The edits were undone, discarded or closed; scheduled, since a write clears 'modified' before its last event.
  local check = vim.schedule_wrap(function(buf)
    if not has_unsaved(buf) then
      release(buf, "as_before")
    end
  end)
  events:on({ "BufModifiedSet", "BufUnload" }, check)
  return events
end

---Waits, in a task, until the edit may be made.
function M.wait(params)
  local buf, name = path.loaded_buffer(params.path), path.title(params.path)
  if not buf or not has_unsaved(buf) then
    return "as_before"
  end
  local function show(text)
    if params.n then
      require("claude-code.sessions").set(params.n, { msg = text })
    end
    vim.cmd.redrawstatus({ bang = true })
  end
  local keys = unsaved.is_stale(buf) and unsaved.merge_hint(buf) .. ", then :w" or ":w"
  local text = "%s or :Claude go-on lets Claude edit %s, where you have unsaved lines"
  notify.warn(text:format(keys, name))
  local stop
  local outcome = task.await(function(done)
    held[done] = buf
    show("waits for " .. name)
    local events = follow()
    function stop()
      held[done] = nil
      let_through[params.prompt or ""] = params.prompt and true
      if next(held) == nil then
        events:stop()
      end
      show(vim.NIL)
    end
    return stop
  end)
  stop()
  return outcome
end

---@return string? text for the status line, since the next key may hide the message
function M.text()
  local _, buf = next(held)
  return buf and "waits for " .. path.title(api.nvim_buf_get_name(buf))
end

---Lets Claude continue with all edits that wait.
function M.go_on()
  if next(held) == nil then
    notify.info("Claude is not waiting for a file")
  end
  release(nil, "as_before")
end

return M
