--- Finds and runs the subcommand of `:Claude NAME …`; `:Claude` alone has the name "". The other files here return
--- tables of subcommands, each with its documentation above it.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

---@class claude-code.Subcommand
---@field run fun(args: claude-code.CommandArgs)
---@field args? string for the help; without it the command accepts no arguments
---@field bang? boolean it accepts a !
---@field range? "lines"|"session" meaning of numbers before the command
---@field complete? fun(lead: string, before: string): string[] see commands/complete.lua

---@class claude-code.CommandArgs : vim.api.keyset.create_user_command.command_args without the subcommand
---@field session? integer number of a session

local M = {}

---@type table<string, claude-code.Subcommand> by name: "diff accept"
M.list = vim.tbl_extend(
  "error",
  require("claude-code.commands.review"),
  require("claude-code.commands.send"),
  require("claude-code.commands.server"),
  require("claude-code.commands.terminal")
)

--- Commands of coder/claudecode.nvim, each for a subcommand or a function of the module.
---@type table<string, string|{ call: "start"|"stop" }>
M.CODERS = {
  ClaudeCodeAdd = "mention",
  ClaudeCodeClose = "close",
  ClaudeCodeCloseAllDiffs = "diff reject-all",
  ClaudeCodeDiffAccept = "diff accept",
  ClaudeCodeDiffDeny = "diff reject",
  ClaudeCodeFocus = "focus",
  ClaudeCodeOpen = "focus",
  ClaudeCodeSelectModel = "model",
  ClaudeCodeSend = "send",
  ClaudeCodeStart = { call = "start" },
  ClaudeCodeStatus = "status",
  ClaudeCodeStop = { call = "stop" },
  ClaudeCodeTreeAdd = "mention",
}

--- Splits off the longest name of a subcommand: one or two words, and perhaps a !.
local function split(text)
  local best, rest, bang
  for _, pattern in ipairs({ "^([^%s|]+)%s*(.*)$", "^([^%s|]+%s+[^%s|]+)%s*(.*)$" }) do
    local words, after = text:match(pattern)
    local name, mark = (words or ""):match("^(.-)(!?)$")
    name = name:gsub("%s+", " ")
    if name ~= "" and M.list[name] then
      best, rest, bang = name, after, mark == "!"
    end
  end
  return best, rest or text, bang or false
end

--- `:Claude` itself accepts options of the CLI, a prompt in quotes, or the number of a session.
local function is_for_cli(text)
  return text:find("^[-\"'|]") ~= nil or text:find("^%d*%s*$") ~= nil
end

local function names_with(prefix)
  return complete.starting_with(vim.tbl_keys(M.list), prefix)
end

local function unknown(text)
  local typed = text:match("^%S+")
  if #names_with(typed .. " ") > 0 then
    typed = text:match("^%S+%s+%S+")
  end
  local near = names_with(typed)
  if #near == 0 and #typed > 2 then
    near = { vim.fn.matchfuzzy(vim.tbl_keys(M.list), typed)[1] }
  end
  local hint = #near > 0 and ("did you mean :Claude %s?"):format(table.concat(near, ", "))
    or "type :Claude and a space, then <Tab> for the list"
  return (":Claude %s is not a command; %s"):format(typed, hint)
end

---@return string? problem
local function problem_with(name, args)
  local subcommand = M.list[name]
  local has_arguments = not subcommand.args and args.args ~= ""
  if has_arguments and #names_with(name .. " ") > 0 then
    return unknown(name .. " " .. args.args)
  end
  local what = has_arguments and "arguments"
    or not subcommand.bang and args.bang and "!"
    or not subcommand.range and args.range > 0 and "range"
  return what and (":Claude %s takes no %s"):format(name, what)
end

--- A session's number may precede the command, or be its argument. A range with two ends is a visual selection.
local function read_session(subcommand, args)
  if subcommand.range ~= "session" then
    return
  elseif args.args:match("^%d+%s*$") then
    args.session, args.args, args.fargs = tonumber(args.args), "", {}
  elseif args.range == 1 and args.line2 > 0 then
    args.session = args.line2
  end
end

--- Splits off another command after `|`, which is an ordinary character in a text, in a path and after arguments of
--- `:Claude`.
local function split_bar(name, text)
  local own = name == "" and "%s*" or M.list[name].args == nil and "[^|]*"
  local before, after = text:match(own and "^(" .. own .. ")|(.*)$" or "^()$")
  return after and vim.trim(before) or text, after
end

local function run(name, args)
  local subcommand = M.list[name]
  local own, after = split_bar(name, args.args)
  args.args = own
  local problem = problem_with(name, args)
  if problem then
    return notify.error(problem)
  end
  read_session(subcommand, args)
  if not notify.guard(subcommand.run, args) then
    return
  end
  local command = name == "" and "Claude" or "Claude " .. name
  -- For clients (spec 03, 5.4).
  local event = { name = "run_claude_command", data = { command = command } }
  require("claude-code.server.channel").notify("log_event", event)
  if after then
    vim.cmd(after)
  end
end

---@param name? string nil if the line has it
function M.run(name, args)
  local line = args.args
  if not name then
    local bang
    name, args.args, bang = split(line)
    args.bang = bang or args.bang
    args.fargs = vim.list_slice(args.fargs, name and #vim.split(name, " ") + 1 or 1)
  end
  if not name and not is_for_cli(line) then
    return notify.error(unknown(line))
  end
  run(name or "", args)
end

--- Next words of the names that begin with `before`.
local function names(before)
  local found = {}
  for name in pairs(M.list) do
    if name ~= "" and vim.startswith(name, before) then
      found[name:sub(#before + 1):match("^%S+")] = true
    end
  end
  return vim.tbl_keys(found)
end

---@param name? string nil if the line has it
---@param lead string the word before the cursor
---@param line string the whole command line
---@param position integer of the cursor, in bytes from 0
function M.complete(name, lead, line, position)
  local before = line:sub(1, position - #lead):match("Claude%a*!?%s+(.*)$") or ""
  local found, subcommand = {}, name and M.list[name]
  if not name then
    found = complete.starting_with(names((before:gsub("%s+", " "))), lead)
    local own, rest = split(before)
    local is_own = own or before .. lead ~= "" and is_for_cli(before ~= "" and before or lead)
    subcommand, before = is_own and M.list[own or ""] or nil, rest
  end
  if subcommand and subcommand.complete then
    vim.list_extend(found, subcommand.complete(lead, before))
  end
  return found
end

return M
