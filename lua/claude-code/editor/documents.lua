--- Opening and saving files for the executable.
local api, uv = vim.api, vim.uv
local calm = require("claude-code.editor.diff.calm")
local path = require("claude-code.editor.path")
local say = require("claude-code.editor.say")
local windows = require("claude-code.editor.diff.windows")

---How much of a file is looked at to tell text from binary, in bytes.
local SNIFF = 8192

local M = {}

---@class claude-code.OpenParams
---@field path string
---@field preview? boolean has no meaning in Neovim
---@field start_text? string plain text, may span lines
---@field end_text? string plain text, searched behind start_text
---@field select_to_eol? boolean
---@field front? boolean

---@param name string
---@return string? problem a sentence that names the file
local function why_not(name)
  local stat, message = uv.fs_stat(name)
  if not stat then
    return (message or ""):find("ENOENT", 1, true) and name .. " does not exist"
      or ("%s cannot be read: %s"):format(name, message)
  elseif stat.type == "directory" then
    return name .. " is a folder, not a file"
  elseif stat.type ~= "file" then
    return ("%s is no regular file (%s)"):format(name, stat.type)
  end
  local file, reason = io.open(name, "rb")
  if not file then
    return ("%s cannot be read: %s"):format(name, reason)
  end
  local head = file:read(SNIFF) or ""
  file:close()
  local utf16 = head:find("^\255\254") or head:find("^\254\255")
  if head:find("\0", 1, true) and not utf16 then
    return name .. " is a binary file"
  end
end

---Loads a file without the swap-file question (E325): a file that is open elsewhere, or was when
---an editor crashed, opens read-only.
---@param name string
---@param load fun()
local function without_swap_prompt(name, load)
  local found = false
  local autocmd = api.nvim_create_autocmd("SwapExists", {
    callback = function()
      found = true
      vim.v.swapchoice = "o"
    end,
  })
  local ok, message = pcall(load)
  pcall(api.nvim_del_autocmd, autocmd)
  if found then
    say.warn(path.base(name) .. " has a swap file: opened read-only; :recover or :e! to go on")
  end
  if not ok then
    error(message, 0)
  end
end

---@param name string
---@return integer buf loaded and listed
local function load(name)
  local buf = path.buffer(name) or vim.fn.bufadd(name)
  without_swap_prompt(name, function()
    vim.fn.bufload(buf)
  end)
  vim.bo[buf].buflisted = true
  return buf
end

---@param text string
---@param at integer 1-based byte offset in the text
---@return integer row 1-based
---@return integer col 0-based byte
local function position_at(text, at)
  local before = text:sub(1, at - 1)
  local _, breaks = before:gsub("\n", "")
  return breaks + 1, #before:match("[^\n]*$")
end

---@class claude-code.Range from the first to the last selected character; rows 1-based, byte columns
---@field first { [1]: integer, [2]: integer }
---@field last { [1]: integer, [2]: integer }

---@param buf integer
---@param params claude-code.OpenParams
---@return claude-code.Range? range nil if nothing is asked for or found
local function find_range(buf, params)
  local function clean(needle)
    return needle and needle ~= "" and needle:gsub("\r\n", "\n") or nil
  end
  local from_text, to_text = clean(params.start_text), clean(params.end_text)
  if not from_text and not to_text then
    return nil
  end
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local text = table.concat(lines, "\n")
  local first, last = text:find(from_text or to_text, 1, true)
  if not first then
    return nil
  end
  if from_text and to_text then
    local _, to = text:find(to_text, last + 1, true)
    last = to or last
  end
  local range = { first = { position_at(text, first) }, last = { position_at(text, last) } }
  local line = lines[range.last[1]]
  if params.select_to_eol then
    range.last[2] = math.max(#line - 1, 0)
  elseif range.last[2] < #line then
    -- The first byte of the last character is where Visual mode wants the cursor.
    range.last[2] = range.last[2] + vim.str_utf_start(line, range.last[2] + 1)
  end
  return range
end

---@param win integer
---@param range claude-code.Range
local function select(win, range)
  if api.nvim_get_current_win() ~= win then
    return
  end
  api.nvim_win_set_cursor(win, range.first)
  vim.cmd("normal! v")
  local row, col = unpack(range.last)
  if vim.o.selection == "exclusive" then
    local line = api.nvim_buf_get_lines(api.nvim_win_get_buf(win), row - 1, row, false)[1] or ""
    col = require("claude-code.editor.position").after(line, col)
  end
  -- The end of an exclusive selection may stand behind the line's last character.
  pcall(api.nvim_win_set_cursor, win, { row, col })
  vim.cmd("normal! zv")
end

---Once normal mode is reached; before that the keys would go into the text or the terminal.
---@param win integer
---@param range claude-code.Range
local function select_soon(win, range)
  if api.nvim_get_mode().mode == "n" then
    select(win, range)
    return
  end
  calm.stop_typing()
  calm.later(function()
    if api.nvim_get_mode().mode == "n" and api.nvim_win_is_valid(win) then
      select(win, range)
    end
  end)
end

---@param buf integer
---@return boolean would leaving this buffer be refused ('nohidden' and unsaved)?
local function holds_edits(buf)
  local hide = vim.bo[buf].bufhidden
  local hidden = hide == "hide" or (hide == "" and vim.o.hidden)
  return vim.bo[buf].modified and not hidden and #vim.fn.win_findbuf(buf) < 2
end

---@param buf integer
---@return integer win in which `buf` shows now
local function show(buf)
  local win = windows.for_file(buf)
  if not win then
    return windows.beside(buf)
  end
  local before = api.nvim_win_get_buf(win)
  if before == buf then
    return win
  elseif holds_edits(before) then
    return api.nvim_open_win(buf, false, { split = "above", win = win })
  end
  api.nvim_win_set_buf(win, buf)
  return win
end

---@param buf integer
---@param range claude-code.Range?
local function bring_to_front(buf, range)
  if calm.moment() == "blocked" then
    say.info(path.base(api.nvim_buf_get_name(buf)) .. " is open (not shown: you are typing)")
    return
  end
  local was_terminal = api.nvim_get_mode().mode == "t"
  if was_terminal then
    vim.cmd.stopinsert()
  end
  local win = show(buf)
  api.nvim_set_current_win(win)
  if range then
    select_soon(win, range)
  end
end

---Opens a file; in front with the range selected, or only loaded, with the marks '< and '> set.
---@param params claude-code.OpenParams
---@return { path: string, language_id: string, line_count: integer }?
---@return claude-code.Failure?
function M.open(params)
  local name = path.normal(params.path)
  local open_already = path.loaded_buffer(name)
  local problem = not open_already and why_not(name)
  if problem then
    return nil, problem
  end
  local ok, buf = pcall(load, name)
  if not ok then
    return nil, ("%s cannot be opened: %s"):format(name, buf)
  end
  local range = find_range(buf, params)
  if params.front ~= false then
    bring_to_front(buf, range)
  elseif range then
    api.nvim_buf_set_mark(buf, "<", range.first[1], range.first[2], {})
    api.nvim_buf_set_mark(buf, ">", range.last[1], range.last[2], {})
  end
  return {
    path = api.nvim_buf_get_name(buf),
    language_id = vim.bo[buf].filetype,
    line_count = api.nvim_buf_line_count(buf),
  }
end

---@param buf integer
local function write(buf)
  local confirm = vim.o.confirm
  vim.o.confirm = false
  local ok, message = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("silent write")
  end)
  vim.o.confirm = confirm
  if not ok then
    error((tostring(message):gsub("^.-Vim%b():", "")), 0)
  end
end

---Writes a buffer as `:w` does, autocommands included.
---@param params { path: string }
---@return { saved: true }?
---@return claude-code.Failure?
function M.save(params)
  local buf = path.loaded_buffer(params.path)
  if not buf then
    return nil, { code = "not_open", message = "Document not open: " .. params.path }
  end
  if require("claude-code.editor.reload").is_stale(buf) then
    return nil, params.path .. " was changed on disk since Neovim read it: :e! or :w! decides"
  end
  local ok, message = pcall(write, buf)
  if not ok then
    return nil, ("%s was not saved: %s"):format(params.path, message)
  end
  return { saved = true }
end

return M
