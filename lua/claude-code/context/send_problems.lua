--- :Claude problems: what language servers found in edited files after Claude's turn, as one
--- message to Claude.
local M = {}

---More would fill the prompt.
local MOST = 20

---@param problem claude-code.FileProblem
---@return string
local function line(problem)
  local item = problem.item
  local name = vim.fn.fnamemodify(problem.path, ":.")
  local severity = vim.diagnostic.severity[item.severity]
  local text = item.message:gsub("%s*\n%s*", " ")
  return ("- %s:%d:%d [%s]: %s"):format(name, item.lnum + 1, item.col + 1, severity, text)
end

---@param problems claude-code.FileProblem[]
---@return string
local function message(problems)
  local lines = { "After your last turn, language servers found these problems in your edits:", "" }
  for i = 1, math.min(MOST, #problems) do
    lines[#lines + 1] = line(problems[i])
  end
  if #problems > MOST then
    lines[#lines + 1] = ("- … and %d more"):format(#problems - MOST)
  end
  return table.concat(vim.list_extend(lines, { "", "Please help me fix these issues." }), "\n")
end

---@param problems claude-code.FileProblem[]
---@return claude-code.MentionTarget[] each file once
local function targets(problems)
  local seen, list = {}, {}
  for _, problem in ipairs(problems) do
    if not seen[problem.path] then
      seen[problem.path] = true
      list[#list + 1] = { path = problem.path }
    end
  end
  return list
end

---The worst problems, those of the files with the worst first, to the session that edited these.
function M.send()
  local problems, n = require("claude-code.editor.turn_check.unchecked").problems()
  if #problems == 0 then
    local text = "nothing to send: no problems were found after Claude's last turn"
    return require("claude-code.messages.notify").warn(text)
  end
  local deliver = require("claude-code.context.send_with_diagnostics").deliver
  deliver(message(problems), targets(problems), n)
end

return M
