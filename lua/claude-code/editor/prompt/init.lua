--- Edits a prompt for Claude in a Markdown buffer. `:wq` sends it; closing the window in another way keeps a draft. The
--- buffer is modified only if the draft cannot be kept.
local api, uv = vim.api, vim.uv
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

local M = { NAME = "claude-code://prompt/" }

---Identifies our bar.
local MARK = "%(%(%(%)%)%)"
---Delay after the last change until the draft is kept.
local KEEP_MS = 500
---Commands that send the prompt, typed or at the beginning of a mapping, but not if a plugin saves automatically.
local SENDING = { exit = true, wq = true, xit = true }

---@param keys string with their actions
function M.show_bar(win, title, keys)
  local parts = { { title, "ClaudeCodeBarFile" }, "%<", { "  " .. keys, "ClaudeCodeNote" } }
  winbar.show(win, MARK, winbar.render(parts))
end

---@param n? integer number of the session
---@return integer win with the cursor
function M.open_window(buf, n)
  local row = n and require("claude-code.sessions").get(n) or {}
  local claude = row.buf and require("claude-code.terminal.window").find(row.buf)
  local beside = claude or windows.for_file() or 0
  local height = math.max(6, math.floor(api.nvim_win_get_height(beside) * 0.4))
  if api.nvim_get_mode().mode == "t" then
    vim.cmd.stopinsert()
  end
  local win = api.nvim_open_win(buf, true, { win = beside, split = "below", height = height })
  windows.set_options(win, { wrap = true, linebreak = true, number = false, signcolumn = "no" })
  return win
end

local FOLDER = vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "claude-code", "drafts")

---Names the file of a session's draft, by folder, session and Neovim. Takes over the draft of a Neovim that has ended.
---@return string path
function M.draft(n)
  local here = require("claude-code.lib.workspace").tab_folder(0)
  local name = ("%s-%d"):format(vim.fn.sha256(here):sub(1, 16), n)
  local path = vim.fs.joinpath(FOLDER, ("%s-%d.md"):format(name, uv.os_getpid()))
  local is_alive = require("claude-code.programs").is_alive
  for other in vim.fs.dir(FOLDER) do
    local pid = other:match("^" .. vim.pesc(name) .. "%-(%d+)%.md$")
    if pid and not uv.fs_stat(path) and not is_alive(assert(tonumber(pid))) then
      uv.fs_rename(vim.fs.joinpath(FOLDER, other), path)
    end
  end
  return path
end

---@return string[] lines
function M.read_draft(draft)
  local text = require("claude-code.lib.regular_file").read(draft, math.huge)
  return text and vim.split(text, "\n") or {}
end

---Replaces a draft by a rename, or deletes it if there is no text.
---@return string? problem if there is one, the old draft remains
function M.keep_draft(draft, lines)
  local text = table.concat(lines, "\n")
  if not text:find("%S") then
    uv.fs_unlink(draft)
    return nil
  end
  pcall(vim.fn.mkdir, FOLDER, "p", tonumber("700", 8))
  local new = draft .. ".new"
  local fd, problem = uv.fs_open(new, "w", tonumber("600", 8))
  if not fd then
    return problem
  end
  local count, failure = uv.fs_write(fd, text)
  uv.fs_close(fd)
  if count ~= #text then
    uv.fs_unlink(new)
    return failure or "the disk is full"
  end
  return select(2, uv.fs_rename(new, draft))
end

---@class claude-code.Prompt
---@field n integer number of the session
---@field terminal? table of the session; nil: it has not started
---@field label string of the session
---@field buf integer
---@field draft string path
---@field source integer buffer of the user's file, for placeholders
---@field from integer window of the user
---@field win? integer
---@field has_begun? boolean insert mode has begun
---@field is_lost boolean the draft could not be kept
---@field is_sending boolean closing the window now sends the prompt

local prompts = {} ---@type table<integer, claude-code.Prompt> by buffer

local function lines_of(prompt)
  return api.nvim_buf_get_lines(prompt.buf, 0, -1, true)
end

---@param lines? string[] nil: those of the buffer
---@return boolean is_kept
local function keep(prompt, lines)
  local problem = M.keep_draft(prompt.draft, lines or lines_of(prompt))
  prompt.is_lost = problem ~= nil
  if api.nvim_buf_is_valid(prompt.buf) then
    vim.bo[prompt.buf].modified = prompt.is_lost
  end
  if problem then
    notify.error("the draft of your prompt could not be kept: " .. problem)
  end
  return not problem
end

---Keeps a prompt that was not sent, or adds it to the prompt that the user has begun in the meantime.
local function give_back(prompt, lines)
  local other = vim.iter(prompts):find(function(_, one)
    return one.n == prompt.n
  end)
  if other then
    api.nvim_buf_set_lines(other, -1, -1, true, lines)
    lines = lines_of(prompts[other])
  end
  keep(prompt, lines)
end

---Adds a text that was not sent to the draft of a session.
function M.add_to_draft(n, lines)
  local draft = M.draft(n)
  local is_open = vim.iter(prompts):any(function(_, one)
    return one.n == n
  end)
  local all = vim.list_extend(is_open and {} or M.read_draft(draft), lines)
  give_back({ n = n, draft = draft, buf = -1 }, all)
  notify.info(":Claude prompt shows your question", "send")
end

---Prompts that the CLI has not taken yet, with their lines.
local under_way = {} ---@type table<claude-code.Prompt, string[]>

---Sends the prompt to Claude, or keeps it as a draft.
local function send(prompt, lines)
  local text = table.concat(lines, "\n"):gsub("%s+$", ""):gsub("^[ \t]*\n", "")
  if text == "" then
    return
  end
  local expanded, missing = require("claude-code.editor.prompt.expand").run(text, prompt.source)
  local now = require("claude-code.terminal.running").terminal(prompt.n)
  local problem
  if prompt.terminal and prompt.terminal ~= now then
    problem = ("%s has ended; your prompt is kept as a draft"):format(prompt.label)
  elseif missing then
    problem = ("your prompt is kept, and not sent: {%s} has no value here"):format(missing)
  else
    local options = {
      submit = true,
      n = prompt.n,
      name = "your prompt",
      kept = "your prompt is kept",
      with_selection = true,
    }
    under_way[prompt] = lines
    require("claude-code.editor.prompt.history").add(text)
    local function done(is_sent)
      under_way[prompt] = nil
      if not is_sent then
        give_back(prompt, lines)
      end
    end
    if require("claude-code.terminal.prompt").send(expanded, options, done) then
      return
    end
    under_way[prompt] = nil
    problem = "no Claude runs: your prompt is kept as a draft; :Claude starts it"
  end
  give_back(prompt, lines)
  notify.warn(problem)
end

require("claude-code.lib.autocommands").new("unsent_prompts"):on("VimLeavePre", function()
  for prompt, lines in pairs(under_way) do
    give_back(prompt, lines)
  end
end)

local function on_close(prompt)
  local lines = lines_of(prompt)
  prompts[prompt.buf] = nil
  local is_exiting = vim.v.exiting ~= vim.NIL
  if prompt.is_sending and not is_exiting and keep(prompt, {}) then
    vim.schedule(function()
      send(prompt, lines)
    end)
  elseif keep(prompt, lines) and table.concat(lines):find("%S") then
    notify.info("your prompt is kept; :Claude prompt shows it")
  end
  local has_cursor = api.nvim_get_current_win() == prompt.win
  vim.schedule(function()
    if has_cursor and not api.nvim_win_is_valid(prompt.win) then
      pcall(api.nvim_set_current_win, prompt.from)
    end
  end)
end

local function follow_commands(prompt, events)
  local function run(command)
    if SENDING[command] and api.nvim_get_current_buf() == prompt.buf then
      prompt.is_sending = true
      vim.schedule(function()
        prompt.is_sending = false
      end)
    end
  end
  local unfollow = keyboard.follow_commands(events, { run = run })
  events:on("BufWipeout", function()
    unfollow()
    events:stop()
  end, { buffer = prompt.buf })
  vim.keymap.set("n", "ZZ", function()
    run("xit")
    vim.cmd.xit()
  end, { buffer = prompt.buf, desc = "Send the prompt" })
end

local function follow(prompt)
  local buf = prompt.buf
  local events = require("claude-code.lib.autocommands").new("prompt." .. buf)
  local keep_soon, cancel = require("claude-code.lib.timer").debounce(KEEP_MS, function()
    keep(prompt)
  end)
  events:on("BufWriteCmd", function(_, args)
    if args.match ~= api.nvim_buf_get_name(buf) then
      prompt.is_sending = false
      return notify.error("a prompt cannot be written to a file: :wq sends it")
    end
    keep(prompt)
  end, { buffer = buf })
  events:on({ "TextChanged", "TextChangedI", "TextChangedP" }, function()
    vim.bo[buf].modified = prompt.is_lost
    keep_soon()
  end, { buffer = buf })
  events:on("QuitPre", function()
    if not prompt.is_sending then
      keep(prompt)
      return
    end
    -- The prompt will be sent, so close it everywhere.
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      if win ~= api.nvim_get_current_win() then
        api.nvim_win_close(win, true)
      end
    end
  end)
  events:on("BufWinLeave", function()
    cancel()
    on_close(prompt)
  end, { buffer = buf })
  events:on("VimLeavePre", function()
    keep(prompt)
  end)
  events:on("InsertEnter", function()
    prompt.has_begun = true
  end, { buffer = buf })
  follow_commands(prompt, events)
end

local function fill(prompt)
  api.nvim_buf_set_lines(prompt.buf, 0, -1, true, M.read_draft(prompt.draft))
  vim.bo[prompt.buf].modified = false
end

local function new(n)
  local buf = api.nvim_create_buf(false, true)
  local prompt = {
    n = n,
    terminal = require("claude-code.terminal.running").terminal(n),
    label = require("claude-code.sessions.label").of(n),
    buf = buf,
    draft = M.draft(n),
    source = api.nvim_win_get_buf(windows.for_file() or 0),
    from = api.nvim_get_current_win(),
    is_lost = false,
    is_sending = false,
  }
  api.nvim_buf_set_name(buf, M.NAME .. n)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = "acwrite", "wipe", false
  vim.bo[buf].modifiable = true
  fill(prompt)
  require("claude-code.editor.documents.parsing").set_filetype(buf, "markdown")
  prompts[buf] = prompt
  follow(prompt)
  require("claude-code.editor.prompt.completion").attach(buf)
  require("claude-code.editor.prompt.history").attach(buf)
  return prompt
end

---Fills a buffer that Neovim has emptied (`:edit!`).
---@return boolean is_prompt
function M.refill(buf)
  if prompts[buf] then
    fill(prompts[buf])
  end
  return prompts[buf] ~= nil
end

---Adds a text after those lines that the user has begun.
local function add(prompt, text)
  local is_begun = table.concat(lines_of(prompt)):find("%S") ~= nil
  api.nvim_buf_set_lines(prompt.buf, is_begun and -1 or 0, -1, true, vim.split(text, "\n"))
end

---Shows the prompt of a session, with its draft, below Claude's window.
---@param n? integer number of the session; nil: the current or next one
---@param is_about? boolean a new prompt quotes the last selection
---@param text? string added to the draft
function M.open(n, is_about, text)
  n = n or require("claude-code.terminal.running").current() or 1
  for buf, prompt in pairs(prompts) do
    if prompt.n == n then
      api.nvim_set_current_win(vim.fn.win_findbuf(buf)[1])
      return text and add(prompt, text)
    end
  end
  local prompt = new(n)
  local ok, win = pcall(M.open_window, prompt.buf, n)
  if not ok then
    prompts[prompt.buf] = nil
    api.nvim_buf_delete(prompt.buf, { force = true })
    error(win, 0)
  end
  prompt.win = win
  M.show_bar(
    win,
    "Prompt for " .. prompt.label,
    ":wq sends   :q keeps the draft   ^P the one before"
  )
  if text then
    add(prompt, text)
  end
  vim.cmd.normal({ "G$", bang = true })
  if table.concat(lines_of(prompt)):find("%S") then
    return
  elseif is_about then
    api.nvim_buf_set_lines(prompt.buf, 0, -1, true, { "", "{selection}" })
  end
  require("claude-code.editor.windows.focus").begin_insert_mode(function()
    return not prompt.has_begun and api.nvim_get_current_buf() == prompt.buf
  end)
end

return M
