--- Follows the keys and commands that the user types, and checks whether a key may decide about something that has just
--- appeared. The mouse and keys fed by programs do not count.
local api, fn, uv = vim.api, vim.fn, vim.uv
local notify = require("claude-code.messages.notify")

local NAMESPACE = api.nvim_create_namespace("claude-code.keyboard")

---Number of pauses (two seconds) that a user needs to notice something new.
local SEEN_PAUSES = 5

local CMD = vim.keycode("<Cmd>")

---Parts of the names of mouse keys.
local POINTER = { "Mouse", "ScrollWheel", "Drag", "Release" }

---Without a key for this long, the user counts as not typing.
local M = { QUIET_MS = 400 }

local last ---@type number? time of the last key, by `now`
local seen ---@type number? like `last`, but never reset

---Times of the first key after the last pause, and of the last key before that pause. The latter ignores <Esc>, which
---users type out of habit.
local run = { began = 0 } ---@type { began: number, before: number?, last: number? }

---Tests replace this clock.
---@return number ms since some point in time
function M.now()
  return uv.hrtime() / 1e6
end

---Tests replace this, too.
M.after = require("claude-code.lib.timer").once

local function is_pointer(typed)
  -- This byte begins special keys.
  if typed:byte() ~= 0x80 then
    return false
  end
  local name = fn.keytrans(typed)
  return vim.iter(POINTER):any(function(part)
    return name:find(part, 1, true) ~= nil
  end)
end

local function unfollow()
  vim.on_key(nil, NAMESPACE)
  last, run = nil, { began = 0 }
end

---Follows keys until the executable detaches.
function M.follow()
  require("claude-code.server.channel").on_detach(unfollow)
  vim.on_key(function(_, typed)
    if not typed or typed == "" or is_pointer(typed) then
      return
    end
    local now = M.now()
    if M.idle_ms() >= M.QUIET_MS then
      run = { began = now, before = run.last, last = run.last }
    end
    run.last = typed == "\27" and run.last or now
    last, seen = now, now
  end, NAMESPACE)
end

---@return number ms since the last key
function M.idle_ms()
  return last and M.now() - last or math.huge
end

---@return number began time of the first key after the last pause; the current time if there is no such key
---@return number before time of the last key before that pause, except <Esc>
local function last_burst()
  if M.idle_ms() >= M.QUIET_MS then
    return M.now(), run.last or -math.huge
  end
  return run.began, run.before or -math.huge
end

---@return number ms since the last key, whatever it was meant for
function M.away_ms()
  return seen and M.now() - seen or math.huge
end

---Forgets the last key, which was meant for us.
function M.reset()
  last = nil
end

---Calls back once, after `ms` without a key from now on.
---@return fun() cancel
function M.after_idle(ms, callback)
  local since = M.now()
  local cancel
  local function check()
    local missing = ms - math.min(M.idle_ms(), M.now() - since)
    if missing > 0 then
      cancel = M.after(missing, check)
    else
      callback()
    end
  end
  cancel = M.after(ms, check)
  return function()
    cancel()
  end
end

---@class claude-code.CommandWatch
---@field run fun(command: string, bang: boolean) gets the full name, or "" for an unknown command
---@field begin? fun() called for the first key of a command
---@field key? fun(key: string) called for any other key, typed or from a mapping

---Finds the command of a mapping that is about to run, for which Neovim has no event.
local function of_mapping(typed)
  local mode = api.nvim_get_mode().mode:sub(1, 1)
  return fn.maparg(fn.keytrans(typed or ""), mode):match("^<[Cc][Mm][Dd]>(.-)<[Cc][Rr]>")
end

---Reports commands just before Neovim executes them, if the user typed them or a mapping begins with them
---(`<Cmd>w<CR>`).
---@return fun() unfollow does not end the events
function M.follow_commands(events, watch)
  local begin, namespace = watch.begin or function() end, api.nvim_create_namespace("")
  local function report(line)
    local ok, parsed = pcall(api.nvim_parse_cmd, line, {})
    watch.run(ok and parsed.cmd or "", ok and parsed.bang or false)
  end
  events:on({ "CmdlineEnter", "CmdlineLeave" }, function(_, args)
    if args.event == "CmdlineEnter" then
      begin()
    elseif not vim.v.event.abort then
      report(fn.getcmdline())
    end
  end, { pattern = ":" })
  vim.on_key(function(key, typed)
    local line = key == CMD and of_mapping(typed)
    if line then
      begin()
      report(line)
    elseif key ~= CMD and watch.key then
      watch.key(key)
    end
  end, namespace)
  return function()
    vim.on_key(nil, namespace)
  end
end

---@alias claude-code.GuardEvent "appeared"|"was updated"|"got the cursor"

---@class claude-code.DecisionGuard
---@field private title string such as "the change of main.lua"
---@field private since number time of the event, by `M.now`
---@field private event claude-code.GuardEvent
---@field private is_expected? boolean the user has asked for it
---@field private reported? string last message, and when its burst of keys began
local Guard = {}
Guard.__index = Guard

---Guards a diff or a plan against keys that the user typed before they could see it. A key decides if the user had time
---to see it before the first key, or has typed something else in it.
---@param asked? boolean the user has asked for it
function M.guard(title, asked)
  local guard = setmetatable({ title = title }, Guard)
  guard:restart("appeared", asked)
  return guard
end

---@param asked? boolean
function Guard:restart(event, asked)
  self.since, self.event, self.is_expected = M.now(), event, asked
end

---Restarts the guard when the cursor enters because another window was closed.
function Guard:follow(events, is_inside)
  local closed = -math.huge
  events:on({ "WinClosed", "WinEnter" }, function(_, args)
    if args.event == "WinEnter" then
      local was_typed = M.now() - closed > M.idle_ms()
      if not was_typed and is_inside() then
        self:restart("got the cursor")
      end
    elseif tonumber(args.match) == api.nvim_get_current_win() then
      closed = M.now()
    end
  end)
end

---Must keys not decide yet? Treats keys without a pause between them as one.
function Guard:is_active()
  if self.is_expected then
    return M.now() - self.since < M.QUIET_MS
  end
  local began, before = last_burst()
  local pauses = before > self.since and 2 or SEEN_PAUSES
  return began - self.since < pauses * M.QUIET_MS
end

---Says that a key decided nothing, once for keys without a pause between them.
---@param again string instruction
function Guard:report(again)
  local reported = again .. last_burst()
  if self.reported ~= reported then
    self.reported = reported
    notify.info(("%s: %s %s just now"):format(again, self.title, self.event), "diff")
  end
end

---@param decide fun() called unless the key may have been meant for something else
function Guard:decide(key, decide)
  if self:is_active() then
    self:report(("press %s again, it decided nothing"):format(key))
  else
    if self.reported then
      api.nvim_echo({}, false, {})
    end
    decide()
  end
end

return M
