--- Maps keys of a buffer while its hunks wait for a decision. The buffer's longer mappings (`grr`) are removed for that
--- time, so that the keys act at once. `:bdelete` clears mappings, so we ask Neovim which remain.
local api, fn = vim.api, vim.fn

local M = {}

---@class claude-code.Key
---@field keys string|string[]|false as the option for it says
---@field desc string
---@field modes? string[] normal mode if left out
---@field is_repeated? boolean `.` repeats it
---@field run fun(mode: string, key: string)

---@alias claude-code.KeyOwner
---| "before" the other side of a review's file
---| "diff"
---| "original" requests to language servers in a diff
---| "review"

---@class claude-code.Mapped
---@field owner claude-code.KeyOwner
---@field entry claude-code.Key
---@field before table[] the buffer's own mappings, as maparg() returns them

---By the callbacks of our mappings. Weak, since Neovim may clear these.
local mapped = setmetatable({}, { __mode = "k" }) ---@type table<function, claude-code.Mapped>

---@param option string|string[]|false
---@return string[] keys may be empty
function M.of(option)
  return type(option) == "string" and { option } or option or {}
end

---@class claude-code.KeyAction
---@field run fun(mode: string, key: string)
---@field modes? string[]
---@field is_repeated? boolean

---@param section "diff"|"review" of the option `keys`, which names and describes them
---@return claude-code.Key[] in the order of the help
function M.entries(section, actions)
  local entries, names = {}, require("claude-code.config").get()[section].keys
  for _, option in ipairs(require("claude-code.config.options.changes")) do
    for _, field in ipairs(option.key == section .. ".keys" and option.fields or {}) do
      local name, words = field[1], field[3]
      if actions[name] then
        local entry = { keys = M.of(names[name]), desc = "Claude: " .. words }
        entries[#entries + 1] = vim.tbl_extend("error", entry, actions[name])
      end
    end
  end
  return entries
end

function M.show(title, entries)
  local lines = {}
  for _, entry in ipairs(entries) do
    local keys = table.concat(M.of(entry.keys), " ")
    local words = entry.desc:gsub("^Claude: ", "")
    lines[#lines + 1] = keys ~= "" and ("%-8s %s"):format(keys, words) or nil
  end
  require("claude-code.messages.float").open(title, lines)
end

local function guarded(entry, mode, key)
  require("claude-code.messages.notify").guard(entry.run, mode, key)
end

---The key that `.` repeats, and the cursor until the first run.
local repeated ---@type { key: string, cursor?: [integer, integer] }

---Runs by `g@`, the only way for a plugin to let `.` repeat a key, also in another buffer with these keys.
function M.operator()
  local ours = mapped[fn.maparg(repeated.key, "n", false, true).callback]
  if repeated.cursor then
    -- The operator has moved the cursor to the beginning of a closed fold.
    api.nvim_win_set_cursor(0, repeated.cursor)
    repeated.cursor = nil
  end
  if ours then
    guarded(ours.entry, "n", repeated.key)
  end
end

local function run(entry, mode, key)
  if mode ~= "n" or not entry.is_repeated then
    return guarded(entry, mode, key)
  end
  repeated = { key = key, cursor = api.nvim_win_get_cursor(0) }
  vim.go.operatorfunc = "v:lua.require'claude-code.editor.changes.keys'.operator"
  local count = vim.v.count > 0 and vim.v.count or ""
  api.nvim_feedkeys(count .. "g@l", "ni", false)
end

local function map(buf, owner, mode, key, entry)
  local own = vim.tbl_filter(function(mapping)
    return vim.startswith(mapping.lhsraw, vim.keycode(key))
  end, api.nvim_buf_get_keymap(buf, mode))
  local ours ---@type claude-code.Mapped?
  for _, mapping in ipairs(own) do
    ours = ours or mapping.lhsraw == vim.keycode(key) and mapped[mapping.callback] or nil
  end
  if not ours then
    ours = { owner = owner, entry = entry, before = {} }
    local function callback()
      run(entry, mode, key)
    end
    mapped[callback] = ours
    vim.keymap.set(mode, key, callback, { buffer = buf, desc = entry.desc, nowait = true })
  end
  for _, mapping in ipairs(ours.owner == owner and own or {}) do
    if not mapped[mapping.callback] then
      table.insert(ours.before, mapping)
      if mapping.lhsraw ~= vim.keycode(key) then
        api.nvim_buf_del_keymap(buf, mode, mapping.lhs)
      end
    end
  end
end

---Removes our mappings, unless the user has set others since, and restores those of the buffer.
function M.unmap(buf, owner)
  for _, mode in ipairs(api.nvim_buf_is_valid(buf) and { "n", "x" } or {}) do
    for _, mapping in ipairs(api.nvim_buf_get_keymap(buf, mode)) do
      local ours = mapped[mapping.callback]
      if ours and ours.owner == owner then
        api.nvim_buf_del_keymap(buf, mode, mapping.lhs)
        api.nvim_buf_call(buf, function()
          for _, before in ipairs(ours.before) do
            fn.mapset(mode, false, before)
          end
        end)
      end
    end
  end
end

---Skips keys that another owner has mapped.
---@param buffers integer[]
---@return fun() unmap
function M.map(buffers, owner, entries)
  for _, buf in ipairs(buffers) do
    for _, entry in ipairs(entries) do
      for _, key in ipairs(M.of(entry.keys)) do
        for _, mode in ipairs(entry.modes or { "n" }) do
          map(buf, owner, mode, key, entry)
        end
      end
    end
  end
  return function()
    for _, buf in ipairs(buffers) do
      M.unmap(buf, owner)
    end
  end
end

return M
