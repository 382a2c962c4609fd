--- What following the cursor costs: µs per CursorMoved, beside an autocommand that does nothing.
--- Run by scripts/bench-cursor in a headless Neovim; prints one line.
---
--- One event costs some 30 µs whatever it calls, and varies by more than what is looked for here. So
--- each event calls the same function many times over.
local ROUNDS, EVENTS, COPIES = 40, 50, 100
local api, now = vim.api, vim.uv.hrtime
local group = api.nvim_create_augroup("bench", { clear = true })

---@param callback? function
---@return number µs per call, its share of the event included
local function measure(callback)
  for _ = 1, callback and COPIES or 0 do
    api.nvim_create_autocmd("CursorMoved", { group = group, callback = callback })
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

---@return function what runs on each movement while a client is connected
local function ours()
  require("claude-code.editor.selection").clients({ { name = "claude-code" } })
  local watching = api.nvim_get_autocmds({
    event = "CursorMoved",
    group = "claude-code.selection.cursor",
  })
  assert(#watching == 1, "one autocommand follows the cursor")
  local callback = watching[1].callback --[[@as function]]
  require("claude-code.editor.selection").clients({})
  return callback
end

vim.cmd.edit(vim.fn.tempname())
require("claude-code.editor.selection").start()
local callback = ours()
local nothing, empty, following = {}, {}, {}
-- Turn by turn, so that a busy machine slows down all alike.
for round = 1, ROUNDS do
  nothing[round] = measure()
  empty[round] = measure(function() end)
  following[round] = measure(callback)
end
local share = typical(nothing)
local floor, cost = typical(empty) - share, typical(following) - share
local text = "Neovim %d.%d.%d: one cursor movement costs %.2f µs more than an empty autocommand "
  .. "(%.2f µs, %.2f ×)\n"
local version = vim.version()
io.stdout:write(
  text:format(version.major, version.minor, version.patch, cost - floor, floor, cost / floor)
)
vim.cmd("qall!")
