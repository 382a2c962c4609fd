--- The suggested mappings, made with `keymaps = true`.
local M = {}

---@class claude-code.Mapping
---@field modes string[]
---@field key string
---@field plug string name of the <Plug> mapping, and of the command
---@field desc string

---@type claude-code.Mapping[]
M.suggested = {
  { modes = { "n", "x" }, key = "<leader>ac", plug = "ClaudeCode", desc = "Toggle Claude" },
  { modes = { "n", "x" }, key = "<leader>af", plug = "ClaudeCodeFocus", desc = "Focus Claude" },
  {
    modes = { "n" },
    key = "<leader>aC",
    plug = "ClaudeCodeContinue",
    desc = "Continue with Claude",
  },
  { modes = { "n" }, key = "<leader>ar", plug = "ClaudeCodeResume", desc = "Resume with Claude" },
  { modes = { "n", "x" }, key = "<leader>as", plug = "ClaudeCodeSend", desc = "Send to Claude" },
  {
    modes = { "n", "x" },
    key = "<leader>am",
    plug = "ClaudeAtMention",
    desc = "Mention to Claude",
  },
  {
    modes = { "n", "x" },
    key = "<leader>cd",
    plug = "ClaudeSendWithDiagnostics",
    desc = "Send to Claude with diagnostics",
  },
  { modes = { "n" }, key = "<leader>aa", plug = "ClaudeCodeDiffAccept", desc = "Accept edit" },
  { modes = { "n" }, key = "<leader>ad", plug = "ClaudeCodeDiffDeny", desc = "Reject edit" },
  { modes = { "n" }, key = "<leader>ai", plug = "ClaudeCodeStatus", desc = "Claude's status" },
}

---@param mapping claude-code.Mapping
---@return string
local function target(mapping)
  return ("<Plug>(%s)"):format(mapping.plug)
end

---@param mapping claude-code.Mapping
---@param mode string
---@return boolean taken the key means something else, be it only in this mode
local function is_taken(mapping, mode)
  local keys = vim.keycode(mapping.key)
  return vim.iter(vim.api.nvim_get_keymap(mode)):any(function(other)
    return (other.lhsraw == keys or other.lhsrawalt == keys) and other.rhs ~= target(mapping)
  end)
end

---@param left claude-code.Mapping[]
local function report(left)
  local keys = vim.iter(left):map(function(mapping)
    return ("%s (%s)"):format(mapping.key, target(mapping))
  end)
  local text = "keymaps: mapped already, and left as it is: %s; map its <Plug> to another key"
  require("claude-code.messages.notify").info(text:format(keys:join(", ")))
end

--- Makes those whose keys mean nothing yet, and reports the others.
function M.set()
  local left = {}
  for _, mapping in ipairs(M.suggested) do
    local taken = vim.iter(mapping.modes):any(function(mode)
      return is_taken(mapping, mode)
    end)
    if taken then
      left[#left + 1] = mapping
    else
      vim.keymap.set(mapping.modes, mapping.key, target(mapping), { desc = mapping.desc })
    end
  end
  if #left > 0 then
    report(left)
  end
  require("claude-code.key_group").name()
end

--- Removes them, except for keys that mean something else by now.
function M.remove()
  for _, mapping in ipairs(M.suggested) do
    for _, mode in ipairs(mapping.modes) do
      if vim.fn.maparg(mapping.key, mode) == target(mapping) then
        vim.keymap.del(mode, mapping.key)
      end
    end
  end
  require("claude-code.key_group").cancel()
end

return M
