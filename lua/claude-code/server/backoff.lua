--- When to start the executable again after it ended by itself.
---
--- The Claude CLI tries to reconnect at once and then for about 17 s, so the first restart comes
--- at once and the last within that time.
local DELAYS_MS = { 0, 250, 1000, 2000, 4000 }
--- One that never got ready (wrong platform, missing library) will hardly do so at the fifth try.
local UNPROVEN_TRIES = 2
local WINDOW_MS = 60 * 1000

---@class claude-code.Backoff
---@field private ends number[] when it ended, in ms, within the window
local Backoff = {}
Backoff.__index = Backoff

---@return claude-code.Backoff
function Backoff.new()
  return setmetatable({ ends = {} }, Backoff)
end

--- Notes an unexpected end.
---@param now_ms number on a clock that never goes back
---@param proven boolean whether the executable was ever ready
---@return integer? delay_ms nil: it ends too often, give up
---@return integer times how often it ended within the window
function Backoff:next(now_ms, proven)
  self.ends = vim.tbl_filter(function(time)
    return now_ms - time < WINDOW_MS
  end, self.ends)
  table.insert(self.ends, now_ms)
  if #self.ends > (proven and #DELAYS_MS or UNPROVEN_TRIES) then
    return nil, #self.ends
  end
  return DELAYS_MS[#self.ends], #self.ends
end

return Backoff
