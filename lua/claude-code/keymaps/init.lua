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
  { modes = { "n" }, key = "<leader>aN", plug = "ClaudeCodeNew", desc = "New Claude" },
  { modes = { "n" }, key = "<leader>al", plug = "ClaudeCodeSessions", desc = "List of Claudes" },
  { modes = { "n" }, key = "<leader>an", plug = "ClaudeCodeNext", desc = "Next Claude" },
  { modes = { "n" }, key = "<leader>ay", plug = "ClaudeCodeAnswer", desc = "Answer Claude" },
  {
    modes = { "n", "x" },
    key = "<leader>aS",
    plug = "ClaudeCodeSendTo",
    desc = "Send to a Claude",
  },
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
  {
    modes = { "n" },
    key = "<leader>ap",
    plug = "ClaudeCodeSendProblems",
    desc = "Send problems to Claude",
  },
  { modes = { "n" }, key = "<leader>aa", plug = "ClaudeCodeDiffAccept", desc = "Accept edit" },
  { modes = { "n" }, key = "<leader>ad", plug = "ClaudeCodeDiffDeny", desc = "Reject edit" },
  { modes = { "n" }, key = "<leader>ai", plug = "ClaudeCodeStatus", desc = "Claude's status" },
}

---@param name string a command's
---@return string
local function plug(name)
  return ("<Plug>(%s)"):format(name)
end

---@param mapping claude-code.Mapping
---@return string
function M.target(mapping)
  return plug(mapping.plug)
end

---@param mapping claude-code.Mapping
---@param mode string
---@return boolean taken the key means something else, be it only in this mode
local function is_taken(mapping, mode)
  local keys = vim.keycode(mapping.key)
  return vim.iter(vim.api.nvim_get_keymap(mode)):any(function(other)
    return (other.lhsraw == keys or other.lhsrawalt == keys) and other.rhs ~= M.target(mapping)
  end)
end

--- Those whose keys mean something else, for `:checkhealth`: a message at every start would be noise.
---@return claude-code.Mapping[]
function M.conflicts()
  return vim.tbl_filter(function(mapping)
    return vim.iter(mapping.modes):any(function(mode)
      return is_taken(mapping, mode)
    end)
  end, M.suggested)
end

--- Makes those whose keys mean nothing yet.
function M.set()
  local conflicts = M.conflicts()
  for _, mapping in ipairs(M.suggested) do
    if not vim.list_contains(conflicts, mapping) then
      vim.keymap.set(mapping.modes, mapping.key, M.target(mapping), { desc = mapping.desc })
    end
  end
  require("claude-code.keymaps.which_key").name()
end

--- What the user may type in normal mode for a command: a key that is mapped to its <Plug>, or it.
---@param name string
---@return string
function M.shortcut(name)
  local mapping = vim.iter(vim.api.nvim_get_keymap("n")):find(function(other)
    return other.rhs == plug(name)
  end)
  return mapping and vim.fn.keytrans(vim.keycode(mapping.lhs)) or (":" .. name)
end

--- Removes them, except for keys that mean something else by now.
function M.remove()
  for _, mapping in ipairs(M.suggested) do
    for _, mode in ipairs(mapping.modes) do
      if vim.fn.maparg(mapping.key, mode) == M.target(mapping) then
        vim.keymap.del(mode, mapping.key)
      end
    end
  end
  require("claude-code.keymaps.which_key").cancel()
end

return M
