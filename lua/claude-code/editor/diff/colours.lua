--- Colours of a proposal's buffers, as those of the file, without FileType autocommands: no language
--- server, linter or formatter may attach.
local api = vim.api
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")

---A buffer beyond this size, in bytes, gets no syntax highlighting: parsing would freeze the editor.
local HIGHLIGHT_LIMIT = 512 * 1024
---A bigger one has colours by 'syntax', which looks at the lines on screen: tree-sitter finds injected
---languages at once. Before Neovim 0.11 it also parses all at once, and reads its queries for each buffer.
local TREE_SITTER_LIMIT = vim.fn.has("nvim-0.11") == 1 and 64 * 1024 or -1

---In bytes. Patterns for a line of 64 KB take up to 90 ms, and fail (E363) where they take too much memory.
local LONGEST_HIGHLIGHTED_LINE = 16 * 1024

local DELAY_MS = 1

local M = {}

---In lines. Only of a piece that is long as a whole the lines are looked at.
local PIECE = 100

---@param buf integer
---@return boolean
local function has_long_line(buf)
  local count, from = api.nvim_buf_line_count(buf), 0
  for first = 0, count - 1, PIECE do
    local last = math.min(first + PIECE, count)
    local to = api.nvim_buf_get_offset(buf, last)
    local is_long = to - from > LONGEST_HIGHLIGHTED_LINE
    local lines = is_long and api.nvim_buf_get_lines(buf, first, last, true) or {}
    for _, line in ipairs(lines) do
      if #line > LONGEST_HIGHLIGHTED_LINE then
        return true
      end
    end
    from = to
  end
  return false
end

---Tree-sitter reads the queries of a language at once, of C for 30 to 60 ms: so it gives the colours only
---where it does so in the user's own buffers, or where there are no others.
---@param language string
---@param like? integer the file's own buffer
---@return boolean
local function is_for_tree_sitter(language, like)
  local active = require("vim.treesitter.highlighter").active
  if like and (active[like] or vim.bo[like].syntax ~= "") then
    return active[like] ~= nil
  end
  return not vim.g.syntax_on
    or vim.iter(pairs(active)):any(function(_, highlighter)
      return highlighter.tree:lang() == language
    end)
end

---@param buf integer
---@param like? integer the file's own buffer
local function add(buf, like)
  local filetype = vim.bo[buf].filetype
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  if filetype == "" or size > HIGHLIGHT_LIMIT or has_long_line(buf) then
    return
  end
  local language = vim.treesitter.language.get_lang(filetype) or filetype
  local wanted = size <= TREE_SITTER_LIMIT and is_for_tree_sitter(language, like)
  if not wanted or not pcall(vim.treesitter.start, buf, language) then
    local syntax = like and vim.bo[like].syntax or ""
    -- 'syntax' works through its own autocommand.
    vim.o.eventignore = ""
    pcall(api.nvim_set_option_value, "syntax", syntax ~= "" and syntax or filetype, { buf = buf })
  end
end

---Adds them at once. Big ones among Neovim's own syntax files, as those of CSS and Markdown, take 20 ms.
---@param buf integer
---@param like? integer the file's own buffer
function M.add(buf, like)
  if api.nvim_buf_is_loaded(buf) then
    vim.b[buf].claude_code_coloured = true
    like = like and api.nvim_buf_is_loaded(like) and like or nil
    windows.noautocmd(function()
      add(buf, like)
    end)
  end
end

---Adds them a moment later, if that was not done: Neovim answers keys before.
---@param buf integer
---@param like? integer the file's own buffer
function M.add_soon(buf, like)
  if not vim.b[buf].claude_code_coloured then
    timer.once(DELAY_MS, function()
      M.add(buf, like)
    end)
  end
end

return M
