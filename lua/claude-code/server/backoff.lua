--- When to start the executable again after it ended by itself.
---
--- The Claude CLI tries to reconnect at once and then for about 17 s, so the first restart comes
--- at once and the last within that time.
local DELAYS_MS = { 0, 250, 1000, 2000, 4000 }
--- One that never got ready (wrong platform, missing library) will hardly do so at the fifth try.
local UNPROVEN_TRIES = 2
local WINDOW_MS = 60 * 1000

--- Notes an unexpected end.
---@param ends number[] when it has ended within the window, in ms
---@param now_ms number on a clock that never goes back
---@param proven boolean whether the executable was ever ready
---@return integer? delay_ms nil: it ends too often, give up
return function(ends, now_ms, proven)
  while ends[1] and now_ms - ends[1] >= WINDOW_MS do
    table.remove(ends, 1)
  end
  table.insert(ends, now_ms)
  return (proven or #ends <= UNPROVEN_TRIES) and DELAYS_MS[#ends] or nil
end
