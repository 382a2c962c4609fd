--- Decisions take turns: each is made about the text that the one before it has left, also when one command asks
--- for many (`:cdo`, `:g`), or keys come faster than answers.
local api = vim.api

local M = {}

---@class claude-code.ReviewPlace where the user was
---@field win integer
---@field buf integer
---@field row integer
---@field entry integer that is the current one of the quickfix list: `:cdo` finds several in one row

---@class claude-code.ReviewJob
---@field place claude-code.ReviewPlace
---@field follows boolean it is about what the job before leads on to
---@field run fun(done: fun(lead_on?: fun(over: fun())))

local jobs = {} ---@type claude-code.ReviewJob[] the first one runs

---@return claude-code.ReviewPlace
function M.here()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local row, entry = api.nvim_win_get_cursor(win)[1], vim.fn.getqflist({ idx = 0 }).idx
  return { win = win, buf = buf, row = row, entry = entry }
end

---@return boolean is the user still in the buffer that the running job is about, or was led on from there?
function M.is_here()
  local place = jobs[1].place
  return api.nvim_get_current_win() == place.win and api.nvim_get_current_buf() == place.buf
end

---Is what the user asks for now about what the last job leads on to? It is, unless the user has moved the cursor.
---@return boolean
function M.follows()
  return #jobs > 0 and vim.deep_equal(jobs[#jobs].place, M.here())
end

local function start()
  local job = jobs[1]
  if not job then
    return
  end
  local function over()
    table.remove(jobs, 1)
    start()
  end
  local ok, message = xpcall(job.run, debug.traceback, function(lead_on)
    -- Of many that one command asks for only the last one leads on.
    if lead_on and (not jobs[2] or jobs[2].follows) then
      return lead_on(over)
    end
    over()
  end)
  if not ok then
    over()
    error(message, 0)
  end
end

---Runs a job once those before it are over.
---@param run fun(done: fun(lead_on?: fun(over: fun()))) calls `done`, always, once
---@param follows boolean
function M.add(run, follows)
  table.insert(jobs, { place = M.here(), follows = follows, run = run })
  if #jobs == 1 then
    start()
  end
end

---Moves the cursor for a job, or edits the text around it. Jobs that were asked for where it stood go with it, and all
---those of a buffer that it leaves, whose file may be gone.
---@param move fun()
function M.carry(move)
  local from = M.here()
  move()
  local now = M.here()
  for _, job in ipairs(jobs) do
    local place = job.place
    local is_there = place.win == from.win and place.buf == from.buf
    if is_there and (place.row == from.row or now.buf ~= from.buf) then
      job.place = now
    end
  end
end

---@param move fun() from where a job leads on to, or at once if none runs
function M.move(move)
  if not M.follows() then
    return move()
  end
  M.add(function(done)
    if M.is_here() then
      M.carry(move)
    end
    done()
  end, true)
end

return M
