--- One message when Claude's turn ends with changes that wait for a review.
local client = require("claude-code.editor.review.client")
local notify = require("claude-code.messages.notify")
local scopes = require("claude-code.editor.review.scope")

---Milliseconds from the end of a turn until the hooks have recorded it.
local TURN_END_MS = 400

local M = {}

local reported ---@type claude-code.ReviewCounts? in the last message

---@param count integer
---@param word string
---@return string
local function counted(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

---@param counts claude-code.ReviewCounts
local function report(counts)
  if vim.deep_equal(counts, reported) then
    return
  end
  reported = counts
  if counts.hunks > 0 then
    local what, where = counted(counts.hunks, "change"), counted(counts.files, "file")
    notify.info(("%s in %s to review: :ClaudeCodeReview"):format(what, where), "review")
  end
end

---Asks what there is to review, and says it, unless a review is open.
function M.watch()
  vim.api.nvim_create_autocmd("User", {
    group = vim.api.nvim_create_augroup("claude-code.review.turn_end", { clear = true }),
    pattern = "ClaudeCodeActivityChanged",
    callback = function(event)
      if not (event.data and event.data.activity == "idle") then
        return
      end
      require("claude-code.lib.timer").once(TURN_END_MS, function()
        if not require("claude-code.config").get().review.message or scopes.active() then
          return
        end
        client.request("list", {}, function(value)
          if value then
            report(value.counts)
          end
        end)
      end)
    end,
  })
end

return M
