--- News from the transcripts of this Neovim's sessions: how full the model's context is, and Claude's steps.
local events = require("claude-code.lib.events")
local channel = require("claude-code.server.channel")
local rows = require("claude-code.sessions.rows")

local M = {}

--- From SHOWN_FROM percent on, or TOKENS_FROM tokens if the context's size is unknown, the status line shows how full
--- it is. At WARN_FROM percent a message warns once.
local SHOWN_FROM, WARN_FROM, TOKENS_FROM = 50, 85, 100000

---@class claude-code.TranscriptStep
---@field act "read"|"searched"|"edited"
---@field path string absolute
---@field first? integer 1-based
---@field last? integer
---@field subject string in Claude's words

---@class claude-code.TranscriptNews
---@field session string id
---@field tokens? integer in the context
---@field share? number of the context's size, if it is known
---@field steps claude-code.TranscriptStep[]

local watched = "" -- The sessions.
local warned = {} ---@type table<string, true> by session id

---Lets the executable watch the transcripts of all attached sessions.
function M.watch()
  local list = {}
  for _, row in ipairs(rows.list()) do
    if row.id and row.cwd and row.attached and not row.remote then
      list[#list + 1] = { id = row.id, cwd = row.cwd, off = row.hooks_off }
    end
  end
  local key = vim.inspect(list)
  if key ~= watched and require("claude-code.server.channel").is_attached() then
    watched = key
    channel.request("transcript/watch", { sessions = list }, function() end)
  end
end

---A new executable watches nothing yet.
function M.on_attach()
  watched = ""
  M.watch()
end

local function warn_when_full(row)
  if (row.context or 0) < WARN_FROM then
    warned[row.id] = nil
  elseif not warned[row.id] then
    warned[row.id] = true
    local text = "%s has used %d %% of its context; /compact in its prompt makes room"
    local name = require("claude-code.sessions.label").of({ id = row.id })
    require("claude-code.messages.notify").warn(text:format(name, row.context))
  end
end

---@param news claude-code.TranscriptNews
function M.on_news(news)
  local row = rows.get({ id = news.session })
  if row and news.tokens then
    local context = news.share and math.floor(100 * news.share + 0.5)
    if context ~= row.context or news.tokens ~= row.tokens then
      local key = row.n and { n = row.n } or { id = row.id }
      rows.set(key, { context = context or vim.NIL, tokens = news.tokens })
      row.context = context
      warn_when_full(row)
    end
  end
  for _, step in ipairs(row and news.steps or {}) do
    events.emit("Step", { session = row, step = step })
  end
end

---@return string? fullness "62 percent full", "310k tokens"; nil while there is room
function M.fullness(row)
  local percent = row.usage and row.usage.percent or row.context
  if percent then
    return percent >= SHOWN_FROM and ("%d percent full"):format(percent) or nil
  end
  local is_many = (row.tokens or 0) >= TOKENS_FROM
  return is_many and ("%dk tokens"):format(row.tokens / 1000) or nil
end

return M
