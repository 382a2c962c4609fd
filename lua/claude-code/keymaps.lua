--- The suggested mappings, made with `keymaps = true`.
local M = {}

---@class claude-code.Mapping
---@field modes string[]
---@field key string
---@field plug string name of the <Plug> mapping: "claude-send" for `:Claude send`
---@field desc string

local function mapping(modes, key, plug, desc)
  return { modes = vim.split(modes, ""), key = "<leader>" .. key, plug = plug, desc = desc }
end

---@type claude-code.Mapping[]
M.suggested = {
  mapping("nx", "ac", "claude", "Toggle Claude"),
  mapping("nx", "af", "claude-focus", "Focus Claude"),
  mapping("n", "aC", "claude-continue", "Continue with Claude"),
  mapping("n", "ar", "claude-resume", "Resume with Claude"),
  mapping("nx", "as", "claude-send", "Send to Claude"),
  mapping("nx", "aq", "claude-ask", "Ask about lines"),
  mapping("n", "aN", "claude-new", "New Claude"),
  mapping("n", "al", "claude-sessions", "List of Claudes"),
  mapping("n", "an", "claude-next", "Next Claude"),
  mapping("n", "ay", "claude-answer", "Answer Claude"),
  mapping("nx", "am", "claude-mention", "Mention to Claude"),
  mapping("nx", "cd", "claude-diagnostics", "Send to Claude with diagnostics"),
  mapping("n", "at", "claude-transcript", "Read the conversation"),
  mapping("nx", "aw", "claude-prompt", "Write a prompt"),
  mapping("n", "av", "claude-review", "Review Claude's changes"),
  mapping("n", "aa", "claude-diff-accept", "Accept edit"),
  mapping("n", "ad", "claude-diff-reject", "Reject edit"),
  mapping("n", "ai", "claude-status", "Claude's status"),
}

---@param suggestion claude-code.Mapping
function M.target(suggestion)
  return ("<Plug>(%s)"):format(suggestion.plug)
end

local function is_taken(suggestion, mode)
  local keys = vim.keycode(suggestion.key)
  return vim.iter(vim.api.nvim_get_keymap(mode)):any(function(other)
    return (other.lhsraw == keys or other.lhsrawalt == keys) and other.rhs ~= M.target(suggestion)
  end)
end

--- For `:checkhealth`: a message at every start would be noise.
---@return claude-code.Mapping[] with keys that the user has mapped
function M.conflicts()
  return vim.tbl_filter(function(suggestion)
    return vim.iter(suggestion.modes):any(function(mode)
      return is_taken(suggestion, mode)
    end)
  end, M.suggested)
end

--- Maps the keys that the user has not mapped.
function M.set()
  local conflicts = M.conflicts()
  for _, suggestion in ipairs(M.suggested) do
    if not vim.list_contains(conflicts, suggestion) then
      local options = { desc = suggestion.desc }
      vim.keymap.set(suggestion.modes, suggestion.key, M.target(suggestion), options)
    end
  end
end

function M.remove()
  for _, suggestion in ipairs(M.suggested) do
    for _, mode in ipairs(suggestion.modes) do
      if vim.fn.maparg(suggestion.key, mode) == M.target(suggestion) then
        vim.keymap.del(mode, suggestion.key)
      end
    end
  end
end

return M
