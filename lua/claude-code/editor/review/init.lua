--- The executable's reports on what Claude changed without asking (src/review). The other modules are loaded when there
--- is something to review.
local autocommands = require("claude-code.lib.autocommands")
local counted = require("claude-code.lib.text").count
local notify = require("claude-code.messages.notify")
local channel = require("claude-code.server.channel")

---Milliseconds from the end of a turn until the hooks have recorded it.
local TURN_END_MS = 400

local M = {}

---@class claude-code.ReviewCounts
---@field files integer
---@field hunks integer
---@field added integer
---@field removed integer

---@class claude-code.ReviewSummary
---@field counts claude-code.ReviewCounts
---@field incomplete boolean a change could not be recorded, and the user has not kept the rest since
---@field setups claude-code.FolderSetup[] of the workspace folders
---@field problems string[] sentences on what keeps the review from knowing all at once
---@field comments claude-code.ReviewComment[]
---@field runs boolean a tool of Claude may be changing files
---@field overlaps { path: string, session: string, others: string[] }[] edits of files that others have changed

local last ---@type claude-code.ReviewSummary? what the executable reported last
local reported ---@type claude-code.ReviewCounts? in the last message about a turn that ended

---@return claude-code.ReviewSummary?
function M.summary()
  return last
end

---@return integer hunks and whole files that wait for a review
function M.count()
  return last and last.counts.hunks or 0
end

---@param has_claude boolean any Claude is there
---@return string? reason why changes are not in the review: "hooks off", "review incomplete"
function M.incomplete(has_claude)
  return has_claude and #require("claude-code.sessions.sources").hooks_off() > 0 and "hooks off"
    or last and last.incomplete and "review incomplete"
    or nil
end

local function review()
  local reviews = package.loaded["claude-code.editor.review.review"]
  return reviews and reviews.current()
end

function M.is_open()
  local shown = review()
  return shown ~= nil and shown.is_open
end

---Reports changes to review, unless a review is open.
local function report_turn()
  local counts = last and last.counts
  local is_wanted = require("claude-code.config").get().review.message and not M.is_open()
  if not counts or not is_wanted or vim.deep_equal(counts, reported) then
    return
  end
  reported = counts
  if counts.hunks > 0 then
    local what, where = counted(counts.hunks, "change"), counted(counts.files, "file")
    notify.info(("%s in %s to review: :Claude review"):format(what, where), "review")
  end
end

local function send(method, params)
  channel.request(method, params, function(_, problem)
    if problem then
      require("claude-code.messages.log").warn("%s failed: %s", method, problem)
    end
  end)
end

---Hooks need the options `privacy.*`, and run without Neovim.
local function send_options()
  local options = require("claude-code.config").get()
  local privacy = options.privacy
  send("review/privacy", { defaults = privacy.defaults, patterns = privacy.patterns })
  send("review/ignore", { patterns = options.review.ignore })
end

---@param jumps boolean to an entry as soon as there is one
---@param at? claude-code.ReviewEntry the first one if left out
function M.open(scope, jumps, at)
  local keys, runs = require("claude-code.editor.review.keys").all(), last and last.runs
  require("claude-code.editor.review.review").open(scope, jumps, keys, runs or false, at)
end

---Runs at every attach.
function M.start()
  for _, options in ipairs({ "privacy", "review" }) do
    require("claude-code.config").on_change(options, send_options)
  end
  send_options()
  local events = autocommands.new("review")
  events:on({ "BufWritePre", "BufWritePost" }, function(buf, event)
    local name = require("claude-code.editor.documents.path").of_buffer(buf)
    if name then
      local text = require("claude-code.editor.review.text")
      if event.event == "BufWritePre" then
        text.before_write(name, last ~= nil and last.runs)
      else
        text.after_write(name)
      end
    end
  end)
  events:on("User", function(_, event)
    if event.data.activity == "idle" then
      require("claude-code.lib.timer").once(TURN_END_MS, report_turn)
    end
  end, { pattern = "ClaudeCodeActivityChanged" })
end

local function announce(summary, before)
  local function shown(one)
    return { one.counts, one.incomplete, one.setups }
  end
  local is_same = before and vim.deep_equal(shown(before), shown(summary))
  local off = require("claude-code.sessions.sources").hooks_off()
  if not is_same and (before or summary.counts.files + #off > 0 or summary.incomplete) then
    require("claude-code.lib.events").emit("ReviewChanged", summary.counts)
  end
end

local function forget()
  last = nil
end

---@return string "Claude 2 (docs)", or the beginning of its id
local function name_of(session)
  local is_known = require("claude-code.sessions").get({ id = session })
  return is_known and require("claude-code.sessions.label").of({ id = session })
    or session:sub(1, 8)
end

---The executable reports that something was recorded, decided, or has changed on disk.
function M.on_changed(summary)
  local before, shown = last, review()
  require("claude-code.server.channel").on_detach(forget)
  last = summary
  announce(summary, before)
  for _, problem in ipairs(summary.problems) do
    notify.warn_once(problem, "review.incomplete")
  end
  for _, overlap in ipairs(summary.overlaps) do
    local names = vim.tbl_map(name_of, overlap.others)
    local title = require("claude-code.editor.documents.path").title(overlap.path)
    local words = "%s is about to edit %s, where you have not reviewed what %s changed"
    notify.warn(words:format(name_of(overlap.session), title, table.concat(names, ", ")))
  end
  local is_wanted = M.is_open() or require("claude-code.config").get().review.signs == "always"
  if is_wanted and (summary.counts.files > 0 or shown and #shown.files > 0) then
    require("claude-code.editor.review.review").refresh()
  end
end

return M
