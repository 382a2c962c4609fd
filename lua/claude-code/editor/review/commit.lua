--- `:Claude commit`: what the user has kept, by git. The executable opens git's message here (prompt/edit.lua).
local client = require("claude-code.editor.review.client")
local counted = require("claude-code.lib.counted")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")

local M = {}

---@class claude-code.CommitResult
---@field commit? string what git says; nil if the message was not written
---@field files integer
---@field hunks integer
---@field notes string[] sentences

---@param result claude-code.CommitResult
local function report(result)
  if result.commit then
    local what = counted.of(result.hunks, "change") .. " in " .. counted.of(result.files, "file")
    notify.info(("committed %s: %s"):format(what, result.commit))
  else
    notify.info("nothing is committed, since the message was not written")
  end
  for _, note in ipairs(result.notes) do
    notify.warn(note)
  end
end

---Commits what the user has kept in the project of the current file, else in the first one.
---@param with_draft boolean the message begins with the prompts that made it
function M.run(with_draft)
  local name = path.of_buffer(vim.api.nvim_get_current_buf())
  local texts = require("claude-code.editor.review.listing").unsaved()
  client.ask("commit", { path = name, draft = with_draft, texts = texts }, report)
end

return M
