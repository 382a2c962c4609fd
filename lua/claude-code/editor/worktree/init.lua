--- Shows, brings home and removes linked git worktrees, which `claude --worktree` creates.
local api = vim.api
local choose = require("claude-code.lib.choose")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local channel = require("claude-code.server.channel")
local sources = require("claude-code.sessions.sources")

local ACTIONS = { "show", "home", "remove" }
local TEXTS = {
  show = "Show it in a tab page",
  home = "Bring home what it changed",
  remove = "Remove it",
}

local M = {}

---@return string real path
local function folder()
  return path.real(require("claude-code.lib.workspace").tab_folder(0))
end

---@return claude-code.Worktree[] worktrees linked to this repository
local function linked()
  local _, all = sources.worktree(folder())
  return vim.tbl_filter(function(tree)
    return tree.name ~= nil
  end, all)
end

function M.names()
  return vim.tbl_map(function(tree)
    return tree.name
  end, linked())
end

---@param name? string path; nil: the current folder
---@return claude-code.Worktree? linked worktree that contains it
local function around(name)
  local tree = sources.worktree(name or folder())
  return tree and tree.name and tree or nil
end

local function find(given)
  local n = given ~= "" and require("claude-code.terminal").find(given)
    or given == "" and require("claude-code.sessions").current()
  local row = n and require("claude-code.sessions").get(n) or {}
  return vim.iter(linked()):find(function(tree)
    return tree.name == given
  end) or given == "" and around() or row.cwd and around(row.cwd) or nil
end

---Finds a worktree, or lets the user choose one.
---@param given string name of a worktree, or number or name of a session; "": the current one
function M.with_named(given, run)
  local known = find(given)
  if known then
    return run(known)
  end
  require("claude-code.sessions").refresh(function()
    local tree = find(given)
    if tree then
      run(tree)
    elseif given ~= "" then
      notify.error("there is no worktree " .. given)
    elseif #linked() == 0 then
      notify.error("no other worktree here; :Claude new -w starts one")
    else
      choose("Worktrees", linked(), function(one)
        return ("%s: %s"):format(one.name, vim.fn.fnamemodify(one.path, ":~"))
      end, run)
    end
  end)
end

---Lets the user choose what to do with the worktree that contains a path.
---@param name? string path
function M.choose_action(name)
  local tree = name and around(name)
  if not tree then
    return notify.info("this session is in no linked git worktree")
  end
  local function format(action)
    return TEXTS[action]
  end
  choose("Worktree " .. tree.name, ACTIONS, format, function(action)
    M[action](tree)
  end)
end

function M.show(tree)
  for number, tab in ipairs(api.nvim_list_tabpages()) do
    local own = vim.fn.haslocaldir(-1, number) == 1 and vim.fn.getcwd(-1, number)
    if own and path.real(own) == tree.path then
      return api.nvim_set_current_tabpage(tab)
    end
  end
  vim.cmd.tabnew()
  vim.cmd.tcd({ tree.path, magic = { file = false } })
end

---Asks the executable to bring home or remove a worktree. Changes come home to the worktree of the tab page, or else to
---the main worktree.
local function ask(method, tree, callback, options)
  local _, all = sources.worktree(tree.path)
  local here = sources.worktree(folder())
  local is_here = here ~= nil and here.path ~= tree.path and vim.list_contains(all, here)
  if not is_here and all[1].name then
    local text = "this repository is bare: go to the tab page of another worktree than %s first"
    return notify.error(text:format(tree.name))
  end
  local params = { root = (is_here and here or all[1]).path, path = tree.path }
  channel.ask("worktree/" .. method, vim.tbl_extend("force", params, options or {}), callback)
end

---@return string[] real paths of the files with unsaved changes
local function unsaved()
  local names = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified and path.of_buffer(buf)
    names[#names + 1] = name and path.real(name) or nil
  end
  return names
end

---Updates buffers and language servers.
---@param changes { path: string, type: "created"|"changed"|"deleted" }[]
local function take_over(changes)
  for _, change in ipairs(changes) do
    local buf = path.loaded_buffer(change.path)
    if buf and change.type == "deleted" then
      require("claude-code.editor.documents.checktime").compare(buf)
    elseif buf then
      reload.check(buf)
    end
  end
  require("claude-code.editor.language.files").notify(changes)
end

function M.home(tree, with_conflicts)
  ask("home", tree, function(home)
    take_over(home.changes)
    local items = {}
    for _, file in ipairs(home.conflicts) do
      local lines = #file.lines > 0 and file.lines or { 1 }
      for _, line in ipairs(lines) do
        items[#items + 1] = { filename = file.path, lnum = line, text = file.why }
      end
    end
    if #items == 0 then
      return notify.info(home.text)
    end
    local title = ("Conflicts with the worktree %s"):format(tree.name)
    vim.fn.setqflist({}, " ", { title = title, items = items })
    vim.cmd("botright copen")
    notify.warn(home.text)
  end, { with_conflicts = with_conflicts or false, unsaved = unsaved() })
end

---@return string? user session, buffer or window that uses the worktree
local function user_of(tree)
  local function is_in(file)
    return file and path.is_absolute(file) and sources.is_below(path.real(file), tree.path)
  end
  for _, row in ipairs(require("claude-code.sessions").list()) do
    if is_in(row.cwd) then
      return require("claude-code.sessions.label").of(row)
    end
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(buf)
    local bo = vim.bo[buf]
    -- Other buffers may be loaded only for language servers.
    local is_used = bo.buflisted
      or bo.modified
      or bo.buftype == "terminal"
      or #vim.fn.win_findbuf(buf) > 0
    local folder_of_terminal = name:match("^term://(.-)//")
    local file = folder_of_terminal and vim.fn.fnamemodify(folder_of_terminal, ":p") or name
    if is_used and is_in(file) then
      return (bo.buftype == "terminal" and "the terminal " or "the buffer ") .. name
    end
  end
  for number in ipairs(api.nvim_list_tabpages()) do
    for win = 1, vim.fn.tabpagewinnr(number, "$") do
      if is_in(vim.fn.getcwd(win, number)) then
        return ("window %d of tab page %d"):format(win, number)
      end
    end
  end
end

function M.remove(tree)
  require("claude-code.sessions").refresh(function()
    local user = user_of(tree)
    if user then
      return notify.error(("%s is not removed: %s is in it"):format(tree.name, user))
    end
    ask("remove", tree, function()
      notify.info(("removed the worktree %s; its branch stays"):format(tree.name))
    end)
  end)
end

return M
