local MAP_IT = "removed; :help claude-code-terminal-keys shows how to map such a key yourself"

--- The options in effect.
local M = {
  --- Options that were renamed or removed: the new name, or a sentence that says what to do instead.
  ---@type table<string, string>
  renamed = {
    ["binary.source"] = "removed; binary.path names an executable, and dist/ goes before a download and $PATH",
    ["diff.lsp"] = "removed; in a diff the language servers of the file's own buffer answer, on lines that it has",
    ["diff.narrow_terminal"] = "removed; Claude's terminal keeps its size beside a diff",
    ["diagnostics.after_edit_deadline_ms"] = "removed; each edit waits for 1.5 seconds",
    ["execute_code.default_language"] = "removed; python, or the first language, is it",
    ["execute_code.max_output_bytes"] = "removed; 1 MB of each stream is kept",
    ["execute_code.timeout_ms"] = "removed; code runs for 30 seconds at most",
    log_events = "removed; clients other than the Claude CLI receive log_event",
    ["review.accepted_is_reviewed"] = "removed; what you accepted in a diff is reviewed",
    ["selection.enabled"] = 'removed; selection.send = "none" is what false was',
    ["selection.max_bytes"] = "removed; 100,000 bytes of a selection are sent",
    ["terminal.float"] = "removed; terminal.size is the share of a float, too, and 'winborder' its border",
    ["terminal.keys.down"] = MAP_IT,
    ["terminal.keys.left"] = MAP_IT,
    ["terminal.keys.right"] = MAP_IT,
    ["terminal.keys.up"] = MAP_IT,
  },
  --- What cannot be used of the options that the last setup() was given.
  ---@type string[]
  problems = {},
}

---@class claude-code.ConfigState
---@field current? claude-code.Config
---@field listeners table<string, table<fun(value: any), true>>
local state = { listeners = {} }

--- What checks options is loaded where some are given.
---@param given any
---@return claude-code.Config
---@return string[] problems
local function resolve(given)
  if given == nil or (type(given) == "table" and next(given) == nil) then
    return vim.deepcopy(require("claude-code.config.defaults")), {}
  end
  return require("claude-code.config.resolve").resolve(given, M.renamed)
end

---@param problems string[]
local function report(problems)
  local text =
    "%d option%s cannot be used:\n  %s\nThe others are in effect; see :help claude-code-options"
  local list = table.concat(problems, "\n  ")
  require("claude-code.messages.notify").error(
    text:format(#problems, #problems == 1 and "" or "s", list)
  )
end

---@param old claude-code.Config
---@param new claude-code.Config
local function notify(old, new)
  for key, callbacks in pairs(state.listeners) do
    local path = vim.split(key, ".", { plain = true })
    local value = vim.tbl_get(new, unpack(path))
    if not vim.deep_equal(vim.tbl_get(old, unpack(path)), value) then
      for _, callback in ipairs(vim.tbl_keys(callbacks)) do
        callback(value)
      end
    end
  end
end

--- Replaces all options by what the user gave, and reports in one message what cannot be used.
---@param given? claude-code.UserConfig
---@return string[] problems
function M.setup(given)
  local old = state.current or require("claude-code.config.defaults")
  local new, problems = resolve(given)
  state.current, M.problems = new, problems
  if new.log.level ~= old.log.level then
    require("claude-code.messages.log").level = new.log.level
  end
  if #problems > 0 then
    report(problems)
  end
  notify(old, new)
  return problems
end

--- The options in effect: the defaults until setup() is called.
---@return claude-code.Config
function M.get()
  state.current = state.current or resolve(nil)
  return state.current
end

--- From now on calls `callback` with the new value when setup() changes an option, or any of a table
--- of options ("selection"). To register the same function again changes nothing.
---@param key string
---@param callback fun(value: any)
function M.on_change(key, callback)
  state.listeners[key] = state.listeners[key] or {}
  state.listeners[key][callback] = true
end

return M
