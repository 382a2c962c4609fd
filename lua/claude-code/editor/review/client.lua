--- What the executable's review reports, and the options that it needs. What its other methods ("review/list", …)
--- take and give is in src/review/service.ts.
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

---@param method string
---@param warning string for the log
local function set_option(method, params, warning)
  requests.request(method, params, function(_, problem)
    if problem then
      require("claude-code.messages.log").warn(warning .. problem)
    end
  end)
end

---Sends the options `privacy.*`, for hooks: they run where no Neovim does.
function M.send_privacy()
  local options = require("claude-code.config").get().privacy
  local params = { defaults = options.defaults, patterns = options.patterns }
  set_option("review/privacy", params, "Hooks do not know the options privacy.*: ")
end

---Sends the option `review.ignore`.
function M.send_ignore()
  local params = { patterns = require("claude-code.config").get().review.ignore }
  set_option("review/ignore", params, "The review does not know the option review.ignore: ")
end

return M
