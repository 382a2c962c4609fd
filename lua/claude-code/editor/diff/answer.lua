--- How a diff ended: for the executable, for whoever follows the file, and as a User event.
local M = {}

---@alias claude-code.DiffOutcome "accepted"|"rejected"|"closed" closed: by the executable, which knows

---@param event "DiffOpened"|"DiffAccepted"|"DiffRejected"|"DiffClosed"
---@param proposal claude-code.Proposal
---@param reason? string
function M.emit(event, proposal, reason)
  require("claude-code.lib.events").emit(event, {
    id = proposal.id,
    client = proposal.client,
    path = proposal.new_path,
    reason = reason,
  })
end

---The file is about to be written, by us or by the client.
---@param proposal claude-code.Proposal
local function expect_write(proposal)
  if proposal.merge:holds_edits() then
    require("claude-code.editor.documents.reload").allow_overwrite(proposal.target)
  end
  require("claude-code.editor.documents.auto_reload").expect_write({ path = proposal.new_path })
end

---The review keeps the edit once the client has made it.
---@param proposal claude-code.Proposal
local function report_accepted(proposal)
  local params = { path = proposal.new_path, text = vim.base64.encode(proposal:final_text()) }
  require("claude-code.editor.review.client").request("accepted", params, function(_, problem)
    if problem then
      require("claude-code.messages.log").warn("review/accepted failed: %s", problem)
    end
  end)
end

---@param proposal claude-code.Proposal
---@param outcome claude-code.DiffOutcome
---@param reason? string why the user rejects it
function M.send(proposal, outcome, reason)
  if outcome == "closed" then
    return M.emit("DiffClosed", proposal)
  end
  local accepted = outcome == "accepted"
  local result = accepted and proposal:result() or {}
  if accepted then
    -- First of all: once the answer is out the file may change at any time.
    expect_write(proposal)
    report_accepted(proposal)
  end
  require("claude-code.server.channel").notify("diff_ended", {
    id = proposal.id,
    outcome = outcome,
    lines = result.lines,
    newline = result.newline,
    reason = reason,
  })
  M.emit(accepted and "DiffAccepted" or "DiffRejected", proposal, reason)
end

return M
