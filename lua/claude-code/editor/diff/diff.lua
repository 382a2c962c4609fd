--- One diff, from the proposal to the answer:
---
---   waits      in the queue (queue.lua), until none is on screen, the user pauses, and windows may change
---   on screen  `show` opens a view (view.lua); watch.lua notices what happens to it
---   postponed  the user left it undecided, closed it with edits, or wants none to appear (diff.open); ]f, or showing
---              one of its buffers, brings it back
---   ended      `accept`, `reject`, or `close` by the executable, which has answered itself. The answer is sent first,
---              once, and then the windows close
---
--- proposal.lua has the change and the user's edits of it.
local channel = require("claude-code.server.channel")
local events = require("claude-code.lib.events")
local hunk_by_hunk = require("claude-code.editor.diff.hunk_by_hunk")
local notify = require("claude-code.messages.notify")
local proposals = require("claude-code.editor.diff.proposal")
local queue = require("claude-code.editor.diff.queue")
local views = require("claude-code.editor.diff.view")

---@alias claude-code.DiffOutcome "accepted"|"rejected"|"closed" closed: by the executable, which knows

---@class claude-code.Diff
---@field proposal claude-code.Proposal
---@field view? claude-code.View while it is on screen
---@field outcome? claude-code.DiffOutcome set once
---@field number integer in its series
---@field series { total: integer } those that wait together, until none waits
---@field postponed? boolean the user left it undecided: it does not appear again until they ask
---@field asked_for? boolean the user wants to see it now, whatever else they do
---@field no_focus? boolean it was on screen, and does not take the cursor again
---@field reported? boolean a message said that it waits
---@field unwatch? fun() while it is postponed
---@field private was_shown? boolean it was on screen before
local Diff = {}
Diff.__index = Diff

local M = {}

function M.new(params)
  return setmetatable({ proposal = proposals.new(params) }, Diff)
end

---@return integer? n number of the session that proposes it; nil unless several run
function Diff:session()
  return require("claude-code.terminal.prompt").session_of_client(self.proposal.client)
end

---@return string? name of that session
function Diff:session_name()
  local n = self:session()
  local row = n and require("claude-code.sessions").get(n)
  return row and require("claude-code.sessions.label").name(row) or nil
end

---@param event "DiffOpened"|"DiffWaiting"|"DiffAccepted"|"DiffRejected"|"DiffClosed"
---@param reason? string
function Diff:emit(event, reason)
  local proposal = self.proposal
  local id, client, path = proposal.id, proposal.client, proposal.new_path
  events.emit(event, { id = id, client = client, path = path, reason = reason })
end

---Throws if that fails, and leaves nothing behind.
---@return boolean focused
function Diff:show()
  local view, focused = views.open(self)
  self.view, self.asked_for, self.no_focus = view, nil, nil
  return focused
end

function Diff:report_shown(focused)
  if self.was_shown then
    return
  end
  self.was_shown = true
  local proposal = self.proposal
  if not proposal:report(proposal.unsaved, proposal.is_written) and not focused then
    notify.info((":Claude diff goes to the proposed change of %s"):format(proposal:title()), "diff")
  end
  self:emit("DiffOpened")
end

---@param buf integer that Neovim has emptied
---@return boolean filled it is one of its buffers
function Diff:refill(buf)
  local is_ours = vim.list_contains(self.proposal:buffers(), buf)
  if is_ours then
    self.proposal:refill(buf)
  end
  if is_ours and self.view then
    self.view.watch:follow_edits()
  end
  return is_ours
end

---@param options? { in_write?: boolean, force?: boolean } Neovim needs the windows to write; a read-only file, too
---@return boolean ended by this call; if not, a message said why
function Diff:accept(options)
  options = options or {}
  -- Without the executable no one would write the file, and the diff is about to close.
  if not channel.is_attached() or self.outcome then
    return false
  end
  local outcome = self.proposal:accept(options.force)
  if outcome then
    return self:finish(outcome, { in_write = options.in_write })
  elseif self.view then
    self.view:refresh()
  end
  return false
end

---@param reason? string for Claude
---@return boolean ended by this call
function Diff:reject(reason)
  return self:finish("rejected", { reason = reason })
end

---No one waits for its answer any more: the user's version stays in a buffer.
---@param what string what happened
---@return boolean ended by this call
function Diff:close(what)
  local keep = not self.outcome and self.proposal:keeper()
  if keep then
    keep(what)
  end
  return self:finish("closed")
end

---A key or command closes the diff, which rejects it. A diff with the user's edits is postponed instead.
---@param force boolean discard the edits
function Diff:quit(force)
  if force or self.outcome or not self.view or not self.proposal:is_edited() then
    self:reject()
  else
    self:postpone()
  end
end

---Asks why the user rejects it. Without an answer nothing is decided.
function Diff:reject_with_reason()
  local title = self.proposal:title()
  vim.ui.input({ prompt = ("Reject %s, because: "):format(title) }, function(text)
    local reason = vim.trim(text or "")
    if reason == "" then
      notify.info(("the change of %s still waits: you gave no reason"):format(title))
    elseif not self:reject(reason) then
      local message =
        "the change of %s was answered before you gave a reason; Claude did not receive: %s"
      notify.warn(message:format(title, reason))
    end
  end)
end

---@private
---@param options? { in_write?: boolean, reason?: string }
---@return boolean ended by this call
function Diff:finish(outcome, options)
  if self.outcome then
    return false
  end
  options = options or {}
  self.outcome = outcome
  self:send(outcome, options.reason)
  queue.remove(self, options.in_write)
  return true
end

---The user left it undecided: it waits, with their edits, until they ask for it.
function Diff:postpone()
  queue.postpone(self)
end
function Diff:exit()
  self.outcome = "rejected"
  self:send("rejected")
  if self.view then
    self.view:close_on_exit()
  end
end

---Keeps the edit in the review once the client has made it. The executable answers after it has sent the outcome: if it
---dies before, no one has received the user's version.
---@private
function Diff:report_accepted()
  local proposal, keep = self.proposal, self.proposal:keeper()
  -- Claude Code (2.1.330) reads such a file again instead of writing it.
  if keep and proposal.is_written then
    keep("Claude does not overwrite a file that was written since")
    keep = nil
  end
  local params = { path = proposal.new_path, text = vim.base64.encode(proposal:final_text()) }
  channel.request("review/accepted", params, function(_, problem)
    if problem == channel.GONE and keep then
      keep("the connection to Claude ended")
    elseif problem then
      require("claude-code.messages.log").warn("review/accepted failed: %s", problem)
    end
  end)
end

---@private
---@param reason? string why the user rejects it
function Diff:send(outcome, reason)
  if outcome == "closed" then
    return self:emit("DiffClosed")
  end
  local is_accepted, proposal = outcome == "accepted", self.proposal
  if is_accepted then
    -- Before the answer: then we or the client write the file.
    require("claude-code.editor.documents.auto_reload").expect_write({ path = proposal.new_path })
    if proposal:is_merged() then
      require("claude-code.editor.documents.unsaved").allow_overwrite(proposal.target)
    end
    self:report_accepted()
  end
  channel.notify("diff_ended", {
    id = proposal.id,
    outcome = outcome,
    text = is_accepted and proposal:is_edited() and proposal:final_text() or nil,
    reason = reason,
  })
  self:emit(is_accepted and "DiffAccepted" or "DiffRejected", reason)
end

---Actions on what is on screen.
---@type table<string, fun(view: claude-code.View)>
local ON_SCREEN = {
  next_hunk = function(view)
    hunk_by_hunk.move(view, vim.v.count1)
  end,
  previous_hunk = function(view)
    hunk_by_hunk.move(view, -vim.v.count1)
  end,
  accept_hunk = hunk_by_hunk.accept,
  drop_hunk = hunk_by_hunk.drop,
  merge = function(view)
    view.proposal:merge()
  end,
}

---@param action string one of those that `diff.keys` names
function Diff:act(action)
  local act = ON_SCREEN[action]
  if action == "next_diff" or action == "previous_diff" then
    queue.switch(action == "next_diff" and 1 or -1)
  elseif not act then
    self[action](self)
  elseif self.view and not self.outcome and self.view.layout:is_intact() then
    act(self.view)
    self.view:refresh()
  end
end

return M
