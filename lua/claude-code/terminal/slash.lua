--- The slash commands of a CLI that has the mod.
local channel = require("claude-code.server.channel")
local mod = require("claude-code.sessions.mod")
local notify = require("claude-code.messages.notify")
local sessions = require("claude-code.sessions")
local text = require("claude-code.lib.text")
local timer = require("claude-code.lib.timer")

local M = {}

--- A window or a terminal opens only in this time after the command, in ms.
local AT_ONCE_MS = 2000
local ASKING_MS = 1000
--- Characters of a message and of a description.
local MAX_SHOWN = 120

---@return string? name without the slash; nil if the line is no slash command
---@return string args
function M.parse(line)
  local name, args = line:match("^%s*/([%w:_-]+)%f[%s%z]%s*(.*)$")
  return name, args or ""
end

local function show(name, answer, is_late)
  local plain = answer:gsub("\27%[[%d;]*m", "")
  if is_late or vim.api.nvim_get_mode().mode ~= "n" then
    return notify.info(("/%s: %s"):format(name, text.one_line(plain, MAX_SHOWN) or "done"))
  end
  local lines = vim.tbl_map(text.visible, vim.split(vim.trim(plain), "\n"))
  local buf = require("claude-code.messages.float").open("/" .. name, lines)
  require("claude-code.editor.documents.parsing").set_filetype(buf, "markdown")
end

--- Shows the terminal once the command asks something there: it answers late, although Claude does not work.
---@return fun() cancel
local function show_if_asking(key, name)
  return timer.once(ASKING_MS, function()
    local row = sessions.get(key) or {}
    if row.n and row.state ~= "working" then
      require("claude-code.terminal.running").show(row.n)
      notify.info(("/%s waits for you in Claude's terminal"):format(name), "send")
    end
  end)
end

--- Runs a slash command. Its answer opens in a window, or is a message if it comes late.
---@param key integer|claude-code.SessionKey
function M.run(key, name, args, done)
  local is_waiting = (sessions.get(key) or {}).state == "blocked"
  local begun, cancel = vim.uv.now(), is_waiting and function() end or show_if_asking(key, name)
  mod.run(key, name, args, function(failure, answer)
    cancel()
    done(failure)
    if not failure and answer.text and answer.text:find("%S") then
      show(name, answer.text, vim.uv.now() - begun > AT_ONCE_MS)
    end
  end)
end

--- The current session's commands that begin with the typed text, or else those in the files of user and project.
---@param typed string with the slash
---@param done fun(items: claude-code.PromptItem[])
function M.list(typed, done)
  local n = require("claude-code.terminal.running").current() or -1
  mod.commands(n, function(failure, commands)
    if failure then
      local params = { folder = require("claude-code.lib.workspace").tab_folder(0), word = typed }
      return channel.request("prompt/commands", params, function(items)
        done(items or {})
      end)
    end
    local items = {}
    for _, command in ipairs(commands) do
      local item =
        { text = "/" .. command.name, detail = text.one_line(command.description, MAX_SHOWN) }
      if command.name:find("^[%w:_.-]+$") and vim.startswith(item.text, typed) then
        items[#items + 1] = item
      end
    end
    done(require("claude-code.lib.sort")(items, "text"))
  end)
end

function M.choose(callback)
  M.list("/", function(items)
    require("claude-code.lib.choose")("Run in Claude:", items, function(item)
      return item.text .. (item.detail and ": " .. item.detail or "")
    end, callback)
  end)
end

return M
