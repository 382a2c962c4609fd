--- Keeps tree-sitter from parsing text that would end Neovim: its Markdown parser aborts (SIGABRT, in 0.10 and 0.12) if
--- blocks are nested more than 251 deep, as in a line of `>`, or in a list that is indented further line by line. The
--- parser treats CR as a line end. After an error (in a table, or a NUL), it lets blocks begin in the middle of a line.
local api = vim.api
local finally = require("claude-code.lib.finally")

local M = {}

---The limits of the depth of blocks, and of bytes in a row without a letter, that are parsed.
local MAX_DEPTH, MAX_BYTES = 80, 10000
---Longer texts are not parsed: checking them would take more than 50 ms.
local MAX_LINES = 200000
---Parsers for Markdown, or for text with Markdown inside.
local LANGUAGES = { markdown = true, vimdoc = true }
---TODO(0.10): a parser parses the whole text when it is created.
local PARSES_AT_ONCE = vim.fn.has("nvim-0.11") == 0

local function count(text, pattern)
  return select(2, text:gsub(pattern, ""))
end

---Counts the blocks that the markers of a line open: each `>`, and each list marker before a blank. At the beginning of
---a line, or of a part of it, two columns of indentation continue an item. The count may be too low by MAX_DEPTH / 2.
local function is_line_deep(line)
  local start, has_parts = 1, line:find("\r", 1, true)
  while start <= #line do
    local _, last = line:find("^[%p%s%d]*", start)
    if last - start > MAX_DEPTH / 2 then
      local marks = line:sub(start, math.min(last, start + MAX_BYTES))
      local blocks = count(marks, ">") + count(marks, "[*+%-.)]%f[ \t]")
      local columns = (start == 1 or has_parts) and count(marks, " ") + 4 * count(marks, "\t") or 0
      if #marks > MAX_BYTES or blocks + columns / 2 > MAX_DEPTH then
        return true
      end
    end
    start = math.max(start + MAX_DEPTH / 2, last + 1)
  end
  return false
end

function M.is_deep(lines)
  for _, line in ipairs(lines) do
    if line:find("\0", 1, true) or is_line_deep(line) then
      return true
    end
  end
  return false
end

local function has_deep(buf, first, last)
  return not first and api.nvim_buf_line_count(buf) > MAX_LINES
    or M.is_deep(api.nvim_buf_get_lines(buf, first or 0, last or -1, false))
end

---Stops all parsing in the buffer: the parser remains, but covers no text.
local function refuse(buf)
  local active = vim.treesitter.highlighter.active[buf]
  local tree = active and active.tree
  if not tree and not PARSES_AT_ONCE then
    local ok, parser = pcall(vim.treesitter.get_parser, buf)
    tree = ok and parser or nil
  end
  if tree then
    tree:set_included_regions({})
  end
  -- Scheduled, since the buffer may be in the middle of a change. Then 'syntax' highlights it.
  vim.schedule(function()
    if api.nvim_buf_is_loaded(buf) then
      vim.treesitter.stop(buf)
    end
  end)
end

local function is_parsed(filetype)
  return LANGUAGES[vim.treesitter.language.get_lang(filetype) or filetype] ~= nil
end

local guarded = {} ---@type table<integer, true>

---Checks the text of a buffer, and each change to it, before anything parses it.
function M.guard(buf)
  if not is_parsed(vim.bo[buf].filetype) then
    return
  end
  local function check(first, last)
    if has_deep(buf, first, last) then
      refuse(buf)
    end
  end
  check()
  guarded[buf] = guarded[buf]
    or api.nvim_buf_attach(buf, false, {
      on_lines = function(_, _, _, first, _, last)
        check(first, last)
      end,
      on_reload = function()
        check()
      end,
      on_detach = function()
        guarded[buf] = nil
      end,
    })
end

---Guards all Markdown buffers, since Claude may write to their files.
function M.start()
  require("claude-code.lib.autocommands").new("parsing"):on("FileType", M.guard)
  vim.iter(api.nvim_list_bufs()):filter(api.nvim_buf_is_loaded):each(M.guard)
end

---Sets the file type, or fires its event again; sets only 'syntax' if the text must not be parsed.
function M.set_filetype(buf, filetype)
  local is_refused = is_parsed(filetype) and has_deep(buf)
  vim.bo[buf][is_refused and "syntax" or "filetype"] = filetype
  M.guard(buf)
end

---Runs `read`, which reads a file into a buffer; passes errors on. If a new parser parses at once, puts off the
---FileType event until the text is checked.
function M.while_reading(buf, read)
  local eventignore = vim.o.eventignore
  if not PARSES_AT_ONCE or eventignore:find("FileType", 1, true) then
    return read()
  end
  vim.opt.eventignore:append("FileType")
  finally(function()
    vim.o.eventignore = eventignore
  end, read)
  if vim.bo[buf].filetype ~= "" then
    M.set_filetype(buf, vim.bo[buf].filetype)
  end
end

return M
