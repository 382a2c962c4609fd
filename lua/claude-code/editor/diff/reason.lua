--- Asks why the user rejects a proposal.
local notify = require("claude-code.messages.notify")

local M = {}

---Without an answer nothing is decided.
---@param title string of the file
---@param reject fun(reason: string): boolean false if the proposal has an answer already
function M.ask(title, reject)
  vim.ui.input({ prompt = ("Reject %s, because: "):format(title) }, function(text)
    local reason = vim.trim(text or "")
    if reason == "" then
      notify.info(("the change of %s still waits: you gave no reason"):format(title))
    elseif not reject(reason) then
      local message =
        "the change of %s was answered before you gave a reason; Claude did not receive: %s"
      notify.warn(message:format(title, reason))
    end
  end)
end

return M
