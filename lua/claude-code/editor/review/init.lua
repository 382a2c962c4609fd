--- The review of what Claude changed without asking: the quickfix list, marks in the user's files, and
--- decisions that can be taken back. The executable knows the changes (src/review); here is what the user
--- does, and what the executable reports. The rest is loaded once there is something to review.
local autocommands = require("claude-code.lib.autocommands")
local client = require("claude-code.editor.review.client")
local counted = require("claude-code.lib.text").count
local notify = require("claude-code.messages.notify")

---Milliseconds from the end of a turn until the hooks have recorded it.
local TURN_END_MS = 400

local M = {}

local reported ---@type claude-code.ReviewCounts? in the last message about a turn that ended

---@return integer hunks and whole files that wait for a review
function M.count()
  local summary = client.summary()
  return summary and summary.counts.hunks or 0
end

---@return boolean could a change not be recorded?
function M.is_incomplete()
  local summary = client.summary()
  return summary ~= nil and summary.incomplete
end

local function open_review()
  local listing = package.loaded["claude-code.editor.review.listing"]
  return listing and listing.review
end

---@param scope claude-code.ReviewScope
---@param jumps boolean to the first entry as soon as there is one
function M.open(scope, jumps)
  local keys = require("claude-code.editor.review.keys").all()
  require("claude-code.editor.review.view").open({ scope = scope, jumps = jumps, keys = keys })
end

---Says what there is to review, unless its review is open.
local function report_turn()
  local counts = (client.summary() or {}).counts
  local is_wanted = require("claude-code.config").get().review.message and not open_review()
  if not counts or not is_wanted or vim.deep_equal(counts, reported) then
    return
  end
  reported = counts
  if counts.hunks > 0 then
    local what, where = counted(counts.hunks, "change"), counted(counts.files, "file")
    notify.info(("%s in %s to review: :Claude review"):format(what, where), "review")
  end
end

---At every attach.
function M.start()
  for _, options in ipairs({ "privacy", "review" }) do
    require("claude-code.config").on_change(options, client.send_options)
  end
  client.send_options()
  local events = autocommands.new("review")
  events:on({ "BufWritePre", "BufWritePost" }, function(buf, event)
    local name = require("claude-code.editor.documents.path").of_buffer(buf)
    if name then
      local text = require("claude-code.editor.review.buffer_text")
      text[event.event == "BufWritePre" and "before_write" or "after_write"](name)
    end
  end)
  events:on("User", function(_, event)
    if event.data.activity == "idle" then
      require("claude-code.lib.timer").once(TURN_END_MS, report_turn)
    end
  end, { pattern = "ClaudeCodeActivityChanged" })
end

local function announce(summary, before)
  local was = before and { before.counts, before.incomplete }
  local is_same = was and vim.deep_equal(was, { summary.counts, summary.incomplete })
  if not is_same and (before or summary.counts.files > 0 or summary.incomplete) then
    require("claude-code.lib.events").emit("ReviewChanged", summary.counts)
  end
end

---The executable reports that something was recorded, decided, or has changed on disk.
---@param summary claude-code.ReviewSummary
function M.on_changed(summary)
  local before = client.summary()
  client.on_changed(summary)
  announce(summary, before)
  client.warn_once(summary.problems)
  local listing = package.loaded["claude-code.editor.review.listing"]
  local is_wanted = require("claude-code.config").get().review.signs == "always"
    or open_review() ~= nil
  if is_wanted and (summary.counts.files > 0 or listing and #listing.files > 0) then
    require("claude-code.lib.task").run(require("claude-code.editor.review.view").refresh)
  end
end

return M
