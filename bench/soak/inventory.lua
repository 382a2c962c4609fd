--- Counts everything that can be left behind in this Neovim.
local api = vim.api
local open = ... ---@type table<string, integer> open handles of the event loop

---@return table<string, integer> by namespace; the test's own diagnostics leave Neovim's behind
local function extmarks()
  local names = {}
  for name, id in pairs(api.nvim_get_namespaces()) do
    names[id] = name
  end
  local found = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) then
      for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
        local namespace = names[mark[4].ns_id] or "nobody"
        if not namespace:find("soak", 1, true) then
          local name = "extmarks of " .. namespace
          found[name] = (found[name] or 0) + 1
        end
      end
    end
  end
  return found
end

---@return table<string, integer> by group, without one by event; those of single buffers together
local function autocommands()
  local found = {}
  for _, autocommand in ipairs(api.nvim_get_autocmds({})) do
    local group = autocommand.group_name or "nobody, " .. autocommand.event
    local name = "autocommands of " .. group:gsub("%d+", "N")
    found[name] = (found[name] or 0) + 1
  end
  return found
end

-- Drop LuaJIT's machine code: its size depends on the number of traces, not on leaks.
jit.flush()
collectgarbage()
collectgarbage()
return vim.tbl_extend("error", extmarks(), autocommands(), {
  buffers = #api.nvim_list_bufs(),
  windows = #api.nvim_list_wins(),
  tab_pages = #api.nvim_list_tabpages(),
  keymaps = #api.nvim_get_keymap("n"),
  channels = #api.nvim_list_chans(),
  namespaces = vim.tbl_count(api.nvim_get_namespaces()),
  timers = open.new_timer or 0,
  pipes = open.new_pipe or 0,
  processes = open.spawn or 0,
  file_watchers = (open.new_fs_event or 0) + (open.new_fs_poll or 0),
  lua_kilobytes = math.ceil(collectgarbage("count")),
})
