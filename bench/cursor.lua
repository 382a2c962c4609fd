--- The cost of the autocommands on CursorMoved, in µs a movement. Loaded before the plugin is set up.
---
--- One event costs about 30 µs whatever it calls, and varies by more than the difference measured here:
--- each event calls the same functions many times over.
local ROUNDS, EVENTS, COPIES = 40, 50, 100
local api, now = vim.api, vim.uv.hrtime
local group = api.nvim_create_augroup("bench", { clear = true })

---@return vim.api.keyset.get_autocmds.ret[]
local function autocommands()
  return api.nvim_get_autocmds({ event = "CursorMoved" })
end

---@return string what identifies an autocommand; those of Vim script have no id
local function name(autocommand)
  return ("%s %s"):format(autocommand.id, autocommand.command)
end

local known = {}
for _, autocommand in ipairs(autocommands()) do
  known[name(autocommand)] = true
end

---@param actions (function|string)[] callbacks or commands
---@return number µs per event for one of each, its share of the event included
local function measure(actions)
  for _, action in ipairs(actions) do
    local key = type(action) == "function" and "callback" or "command"
    for _ = 1, COPIES do
      api.nvim_create_autocmd("CursorMoved", { group = group, [key] = action })
    end
  end
  collectgarbage()
  local started = now()
  for _ = 1, EVENTS do
    api.nvim_exec_autocmds("CursorMoved", {})
  end
  local took = (now() - started) / 1000 / EVENTS / COPIES
  api.nvim_clear_autocmds({ group = group })
  return took
end

---@param samples number[]
---@return number the lower quartile: what a machine that is not disturbed takes
local function typical(samples)
  table.sort(samples)
  return samples[math.ceil(#samples / 4)]
end

local M = {}

---@return (function|string)[] what came since this was loaded
function M.added()
  local added = {}
  for _, autocommand in ipairs(autocommands()) do
    if not known[name(autocommand)] then
      added[#added + 1] = autocommand.callback or autocommand.command
    end
  end
  return added
end

---@param effort number share of the usual number of rounds
---@return { empty: number, added: number } µs: an empty autocommand, and what came
function M.measure(effort)
  local nothing, empty, added = {}, {}, {}
  local actions = M.added()
  -- Alternate, so that a busy machine slows down all of them.
  for round = 1, math.max(3, ROUNDS * effort) do
    nothing[round] = measure({})
    empty[round] = measure({ function() end })
    added[round] = measure(actions)
  end
  local share = typical(nothing)
  return { empty = typical(empty) - share, added = typical(added) - share }
end

return M
