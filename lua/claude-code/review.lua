--- The review for other plugins that compare texts: what stands in a file without Claude's changes that
--- you have not reviewed.
local client = require("claude-code.editor.review.client")

local M = {}

local follower ---@type fun(ref: string)?

---@param callback fun(ref: string)
local function request_ref(callback)
  client.request("ref", {}, function(value, problem)
    if value then
      callback(value.ref)
    else
      local notify = require("claude-code.messages.notify")
      notify.warn("git plugins cannot compare with the review: " .. problem, "review.ref")
    end
  end)
end

local function follow()
  if follower then
    request_ref(follower)
  end
end

---Makes a git ref whose files are those of the work tree's commit without Claude's changes that wait
---for a review.
---@param callback? fun(ref: string) gets its name; without one nobody follows any more
---@param opts? { follow?: boolean } follow: the ref is made, and `callback` called, again with each
--- change; one callback follows at a time
function M.base_ref(callback, opts)
  if not callback or opts and opts.follow then
    follower = callback
    client.on_summary(follow)
  end
  if callback then
    request_ref(callback)
  end
end

return M
