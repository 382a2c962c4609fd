--- Commands in the moment before they are executed: those that the user types, and those with which a mapping begins
--- (`<Cmd>w<CR>`). What a plugin executes is none of them.
local api, fn = vim.api, vim.fn

local CMD = vim.keycode("<Cmd>")

local M = {}

---@class claude-code.CommandWatch
---@field namespace integer of vim.on_key()
---@field run fun(command: string, bang: boolean) by its full name; "" is one that Neovim does not know
---@field begin? fun() its first key was typed
---@field key? fun(key: string) any other key was typed, or executed by a mapping

---The command of a mapping is about to be executed. Neovim has no event for that.
---@return string? line
local function of_mapping(typed)
  local mode = api.nvim_get_mode().mode:sub(1, 1)
  return fn.maparg(fn.keytrans(typed or ""), mode):match("^<[Cc][Mm][Dd]>(.-)<[Cc][Rr]>")
end

---@param events claude-code.Autocommands
---@param watch claude-code.CommandWatch
---@return fun() unfollow but for the events
function M.follow(events, watch)
  local begin = watch.begin or function() end
  local function run(line)
    local ok, parsed = pcall(api.nvim_parse_cmd, line, {})
    watch.run(ok and parsed.cmd or "", ok and parsed.bang or false)
  end
  events:on({ "CmdlineEnter", "CmdlineLeave" }, function(_, args)
    if args.event == "CmdlineEnter" then
      begin()
    elseif not vim.v.event.abort then
      run(fn.getcmdline())
    end
  end, { pattern = ":" })
  vim.on_key(function(key, typed)
    local line = key == CMD and of_mapping(typed)
    if line then
      begin()
      run(line)
    elseif key ~= CMD and watch.key then
      watch.key(key)
    end
  end, watch.namespace)
  return function()
    vim.on_key(nil, watch.namespace)
  end
end

return M
