--- Opens files for the executable, on screen with a selection or only loaded, and closes their buffers. (The protocol
--- comes from VS Code, and calls them tabs.)
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local columns = require("claude-code.editor.columns")
local documents = require("claude-code.editor.documents")
local lines = require("claude-code.editor.documents.lines")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local scope = require("claude-code.editor.documents.scope")
local supply = require("claude-code.editor.documents.supply")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Range from the first to the last selected character; rows 1-based, byte columns
---@field first { [1]: integer, [2]: integer }
---@field last { [1]: integer, [2]: integer }

---File to show as soon as the user stops typing. A later file replaces it, since it would only flash by.
local waiting ---@type { buf: integer, range: claude-code.Range? }?
---Last selection made here: the window, and both ends as getpos() returns them.
local selected ---@type { win: integer, from: integer[], to: integer[] }?

---@param at integer 1-based byte of the text
---@param row integer where the text begins
---@return { [1]: integer, [2]: integer } place 1-based row, 0-based byte
local function place_in(text, at, row)
  local before = vim.split(text:sub(1, at - 1), "\n", { plain = true })
  return { row + #before - 1, #before[#before] }
end

---@return { [1]: integer, [2]: integer }? first, { [1]: integer, [2]: integer }? last
local function locate(buf, text, from)
  local row = from[1]
  local whole = table.concat(api.nvim_buf_get_lines(buf, row - 1, -1, false), "\n")
  local first, last = whole:find(text, from[2] + 1, true)
  if not first and text:find("\r\n", 1, true) then
    -- A buffer with 'fileformat' dos contains no CR; a buffer with mixed line ends does.
    first, last = whole:find((text:gsub("\r\n", "\n")), from[2] + 1, true)
  end
  if first then
    return place_in(whole, first, row), place_in(whole, last, row)
  end
end

---Finds the texts to select. The end text may be on the line of the start text (spec 4.3: `find_text(endText,
---start_line)`), and even inside the start text, which is always selected as a whole.
---@return claude-code.Range? range nil if there is no text to select
local function find_range(buf, params)
  local from_text, to_text = params.start_text or "", params.end_text or ""
  if from_text == "" then
    from_text, to_text = to_text, ""
  end
  if from_text == "" then
    return nil
  end
  local first, last = locate(buf, from_text, { 1, 0 })
  if not first or not last then
    return nil
  elseif to_text ~= "" then
    local _, to = locate(buf, to_text, first)
    local is_behind = to and (to[1] > last[1] or to[1] == last[1] and to[2] > last[2])
    last = is_behind and to or last
  end
  local line = lines.at(buf, last[1] - 1)
  if params.select_to_eol then
    last[2] = math.max(#line - 1, 0)
  elseif last[2] < #line then
    -- In visual mode the cursor must be on the first byte of the last character.
    last[2] = last[2] + vim.str_utf_start(line, last[2] + 1)
  end
  return { first = first, last = last }
end

local function ends()
  return { win = api.nvim_get_current_win(), from = vim.fn.getpos("v"), to = vim.fn.getpos(".") }
end

---Selects in the current window, in normal mode.
local function select(win, range)
  api.nvim_win_set_cursor(win, range.first)
  -- With "cmd" in 'selectmode', `v` would start Select mode, in which the next key replaces the selection.
  local selectmode = vim.o.selectmode
  vim.o.selectmode = ""
  vim.cmd("normal! v")
  vim.o.selectmode = selectmode
  local row, col = unpack(range.last)
  if vim.o.selection == "exclusive" then
    col = columns.after(lines.at(api.nvim_win_get_buf(win), row - 1), col)
  end
  -- The end of an exclusive selection may lie after the last character of the line.
  pcall(api.nvim_win_set_cursor, win, { row, col })
  vim.cmd("normal! zv")
  selected = ends()
end

---Selects once Neovim is in normal mode: before that, the keys would go into the text or the terminal.
local function select_soon(win, range)
  local function try()
    if api.nvim_get_mode().mode == "n" and api.nvim_get_current_win() == win then
      select(win, range)
    end
  end
  if api.nvim_get_mode().mode == "n" then
    return try()
  end
  blocked.to_normal_mode()
  blocked.retry(try)
end

---Shows a buffer in a window for files, and moves the cursor there.
---@param range? claude-code.Range to select
function M.bring_to_front(buf, range)
  waiting = nil
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  reload.check(buf)
  if api.nvim_get_mode().mode == "t" then
    vim.cmd.stopinsert()
  end
  local win = documents.without_question(function()
    return supply.show(buf, function()
      local win = windows.bring(buf, windows.for_file(buf))
      api.nvim_set_current_win(win)
      return win
    end)
  end)
  if range then
    select_soon(win, range)
  end
end

local function show_waiting()
  if waiting and blocked.may_change() == "all" then
    notify.guard(M.bring_to_front, waiting.buf, waiting.range)
  elseif waiting then
    blocked.retry(show_waiting)
  end
end

---Shows a buffer once the user does not type: the keys would go into this file.
local function show_soon(buf, range)
  -- Leave the visual mode of an earlier selection made here, unless the user has changed it.
  if selected and api.nvim_get_mode().mode == "v" and vim.deep_equal(selected, ends()) then
    vim.cmd("normal! \27")
  end
  selected = nil
  if blocked.may_change() == "all" then
    return M.bring_to_front(buf, range)
  elseif not waiting then
    blocked.retry(show_waiting)
  end
  if not waiting or waiting.buf ~= buf then
    local base = path.base(api.nvim_buf_get_name(buf))
    notify.info(base .. " is open; it is shown when you are back in normal mode")
  end
  waiting = { buf = buf, range = range }
end

---Shows a file in a window for files, and moves the cursor there.
---@param name string absolute
---@param line? integer 1-based
---@return true? shown, string? problem
function M.at(name, line)
  local buf, problem = documents.load(path.normal(name))
  if not buf then
    return nil, problem
  end
  vim.bo[buf].buflisted = true
  M.bring_to_front(buf)
  if line then
    vim.cmd.normal({ "m'", bang = true })
    api.nvim_win_set_cursor(0, { math.min(line, api.nvim_buf_line_count(buf)), 0 })
    vim.cmd.normal({ "zv", bang = true })
  end
  return true
end

---Opens a file in front and selects a range, or only loads and lists it.
function M.open(params)
  local name = path.normal(params.path)
  local open_already = path.loaded_buffer(name)
  local buf, problem = documents.load(name)
  if not buf then
    return nil, problem
  end
  local privacy = require("claude-code.editor.privacy")
  if params.folders and scope.run(params.folders, privacy.hides, buf) then
    -- A link has taken the file's place in the meantime.
    if not open_already then
      api.nvim_buf_delete(buf, { force = true })
    end
    return nil, scope.run(params.folders, privacy.refusal, name)
  end
  vim.bo[buf].buflisted = true
  if params.front ~= false then
    show_soon(buf, find_range(buf, params))
  end
  return { language_id = vim.bo[buf].filetype, line_count = api.nvim_buf_line_count(buf) }
end

---@return integer[] buffers with that path, or with that last name
local function open_buffers(params)
  if params.path then
    local buf = path.buffer(params.path)
    return buf and (vim.bo[buf].buflisted or api.nvim_buf_is_loaded(buf)) and { buf } or {}
  end
  return vim.tbl_filter(function(buf)
    local file = path.of_buffer(buf)
    return vim.bo[buf].buflisted and file ~= nil and path.base(file) == params.name
  end, api.nvim_list_bufs())
end

---Closes a buffer as `:bdelete` does, which keeps its marks and its places in jump lists, unless it has unsaved
---changes.
function M.close(params)
  local name = params.path or params.name
  local found = open_buffers(params)
  if #found ~= 1 then
    local reason = #found == 0 and "no file with that name is open"
      or "several files with that name are open"
    return { closed = false, reason = reason }
  end
  local buf = found[1]
  local is_pinned = vim.iter(vim.fn.win_findbuf(buf)):any(function(win)
    return vim.wo[win].winfixbuf
  end)
  if vim.bo[buf].modified then
    return nil, { code = "unsaved", message = name .. " has unsaved changes: it stays open" }
  elseif is_pinned then
    local message = name .. " is pinned to its window ('winfixbuf'): it stays open"
    return nil, { code = "pinned", message = message }
  elseif blocked.in_command_window() then
    return nil, ("%s stays open: %s"):format(name, blocked.COMMAND_WINDOW)
  end
  -- Neovim may ask whether to reload a file when it enters the buffer.
  windows.replace_buffer(buf, reload.check)
  vim.cmd.bdelete({ count = buf })
  return { closed = true }
end

---@return string name target of the Markdown link under the cursor, or else the file name there
function M.name_under_cursor()
  local line, column = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2] + 1
  for first, target, last in line:gmatch("()%[[^%]]*%]%(([^)%s]+)%)()") do
    if column >= first and column < last then
      return target
    end
  end
  return vim.fn.expand("<cfile>")
end

---Splits the line number from a name as Claude writes it: `src/a.ts:12`, `@src/a.ts#L12-14`.
---@param name string under the cursor
---@return string bare, integer? line 1-based
function M.split_name(name)
  local bare, line = name:match("^@?(.-)#L(%d+)")
  line = line or vim.fn.expand("<cWORD>"):match(vim.pesc(name) .. ":(%d+)")
  return bare or (name:gsub("^@", "")), tonumber(line)
end

---@param name string under the cursor
---@param folder? string of relative names
---@return string? path nil if there is no such file
---@return integer? line 1-based
function M.named(name, folder)
  local bare, line = M.split_name(name)
  local file = vim.fs.normalize(bare)
  local full = path.is_absolute(file) and file or vim.fs.joinpath(folder or vim.fn.getcwd(), file)
  return bare ~= "" and vim.uv.fs_stat(full) and full or nil, line
end

return M
