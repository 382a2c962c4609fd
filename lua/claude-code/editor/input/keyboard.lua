--- When the person typed last, in whatever mode and window. Programs that feed keys, and the mouse,
--- do not count.
local api, uv = vim.api, vim.uv

local NAMESPACE = api.nvim_create_namespace("claude-code.keyboard")

---What the names of the mouse's "keys" have in them.
local POINTER = { "Mouse", "ScrollWheel", "Drag", "Release" }

local M = {}

local last ---@type number? ms, by `now`

---@return number ms since some moment
local function now()
  return uv.hrtime() / 1e6
end

---@param typed string
---@return boolean
local function is_pointer(typed)
  -- Special keys start with this byte.
  if typed:byte() ~= 0x80 then
    return false
  end
  local name = vim.fn.keytrans(typed)
  return vim.iter(POINTER):any(function(part)
    return name:find(part, 1, true) ~= nil
  end)
end

---Begins to note when keys are typed, until the executable detaches.
function M.follow()
  require("claude-code.editor.channel").on_detach(M.unfollow)
  vim.on_key(function(_, typed)
    if typed and typed ~= "" and not is_pointer(typed) then
      last = now()
    end
  end, NAMESPACE)
end

function M.unfollow()
  vim.on_key(nil, NAMESPACE)
  last = nil
end

---@return number ms since the last key
function M.rest()
  return last and now() - last or math.huge
end

---The last key was meant for us: nobody is in the middle of typing something else.
function M.forget()
  last = nil
end

---Calls once, after no key was typed for so long, counted from now at the earliest.
---@param ms integer
---@param callback fun()
---@return fun() cancel
function M.once_quiet(ms, callback)
  local since, timer = now(), assert(uv.new_timer())
  local function cancel()
    if not timer:is_closing() then
      timer:close()
    end
  end
  local look
  local later = vim.schedule_wrap(function()
    look()
  end)
  function look()
    if timer:is_closing() then
      return
    end
    local missing = ms - math.min(M.rest(), now() - since)
    if missing > 0 then
      timer:start(math.ceil(missing), 0, later)
      return
    end
    cancel()
    callback()
  end
  timer:start(ms, 0, later)
  return cancel
end

return M
