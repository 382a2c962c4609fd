--- Sessions that another Neovim has left: their CLIs look for a server, and may not find it.
local M = {
  --- Longer than a CLI tries to find its Neovim again, which is 17 s (measured with 2.1.330).
  RETRY_MS = 20000,
}

---@param adopted claude-code.AdoptedTerminal[]
---@return integer[] numbers of those that run and are not connected
local function unconnected(adopted)
  local numbers = {}
  for _, found in ipairs(adopted) do
    local row = require("claude-code.sessions").get(found.terminal.n)
    numbers[#numbers + 1] = row and not row.connected and row.n or nil
  end
  return numbers
end

---@param numbers integer[]
local function report(numbers)
  for _, n in ipairs(numbers) do
    local text = "%s runs on in its tmux pane, without a connection to this Neovim; "
      .. "type /ide there and choose Neovim"
    local name = require("claude-code.sessions.label").of(n)
    require("claude-code.messages.notify").info(text:format(name))
  end
end

--- A CLI that has given up takes the port of before for one that it is connected to, and /ide then
--- fails there (measured with 2.1.330).
---@param adopted claude-code.AdoptedTerminal[]
local function give_up(adopted)
  local numbers = unconnected(adopted)
  if #numbers > 0 then
    require("claude-code.server").change_port()
    report(numbers)
  end
end

--- Starts the server that their CLIs look for, and reports those that do not find it.
---@param adopted claude-code.AdoptedTerminal[]
function M.connect(adopted)
  local server = require("claude-code.server")
  server.ensure({}, function()
    local look_here = vim.tbl_filter(function(found)
      return found.port == server.port
    end, adopted)
    local look_elsewhere = vim.tbl_filter(function(found)
      return found.port ~= server.port
    end, adopted)
    local once = require("claude-code.lib.timer").once
    once(0, function()
      report(unconnected(look_elsewhere))
    end)
    once(M.RETRY_MS, function()
      give_up(look_here)
    end)
  end)
end

return M
