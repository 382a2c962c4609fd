--- Keeps what the executable's review reports, and sends the options that it needs. src/review/service.ts says what
--- its other methods ("review/list", …) take and give.
local requests = require("claude-code.server.requests")

local M = {}

---@class claude-code.ReviewCounts
---@field files integer
---@field hunks integer
---@field added integer
---@field removed integer

---@class claude-code.ReviewSummary
---@field counts claude-code.ReviewCounts
---@field incomplete boolean a change could not be recorded, and the user has not kept the rest since
---@field problems string[] sentences on what keeps the review from knowing all at once
---@field comments claude-code.ReviewComment[]
---@field runs boolean something of Claude's may be changing files

local summary ---@type claude-code.ReviewSummary? what the executable reported last

---What the executable reported last.
---@return claude-code.ReviewSummary?
function M.summary()
  return summary
end

local function forget()
  summary = nil
end

---@param reported claude-code.ReviewSummary
function M.on_changed(reported)
  require("claude-code.server.channel").on_detach(forget)
  summary = reported
end

local warned = {} ---@type table<string, true> sentences

---@param problems string[] sentences that stay true; each is said once
function M.warn_once(problems)
  for _, problem in ipairs(problems) do
    if not warned[problem] then
      warned[problem] = true
      require("claude-code.messages.notify").warn(problem, "review.incomplete")
    end
  end
end

local function send(method, params)
  requests.request(method, params, function(_, problem)
    if problem then
      require("claude-code.messages.log").warn("%s failed: %s", method, problem)
    end
  end)
end

---Sends the options `privacy.*`, for hooks, which run where no Neovim does, and `review.ignore`.
function M.send_options()
  local options = require("claude-code.config").get()
  local privacy = options.privacy
  send("review/privacy", { defaults = privacy.defaults, patterns = privacy.patterns })
  send("review/ignore", { patterns = options.review.ignore })
end

return M
