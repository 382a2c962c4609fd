--- The model that Claude uses, chosen from the names that the CLI knows.
local M = {
  --- The aliases that the Claude CLI (2.1.330) takes for `--model`.
  NAMES = {
    "opus",
    "sonnet",
    "haiku",
    "fable",
    "best",
    "opusplan",
    "opus[1m]",
    "sonnet[1m]",
    "fable[1m]",
  },
}

---@param arguments string[] for a CLI that starts
local function use(name, arguments, restart)
  local terminal = require("claude-code.terminal")
  if restart or not terminal.is_open() then
    return terminal.open(vim.list_extend({ "--model", name }, arguments), { restart = restart })
  end
  if require("claude-code.terminal.prompt").refuse_while_asking("/model " .. name) then
    return
  end
  -- Not submitted: the user may have begun a prompt.
  if terminal.send("/model " .. name) then
    local text = "the prompt of Claude has /model %s; submit it there"
    require("claude-code.messages.notify").info(text:format(name))
  end
end

--- Asks for a model by vim.ui.select().
---@param arguments string[] for a CLI that starts
---@param restart boolean end a CLI that runs, and start another
function M.select(arguments, restart)
  vim.ui.select(M.NAMES, { prompt = "Model for Claude:" }, function(name)
    if name then
      use(name, arguments, restart)
    end
  end)
end

return M
