--- The scratch buffers of a proposal: one for the file on disk, one for the proposed text.
local api = vim.api

---A buffer beyond this size, in bytes, gets no syntax highlighting: parsing would freeze the editor.
local HIGHLIGHT_LIMIT = 512 * 1024
---A bigger one has colours by 'syntax', which looks at the lines on screen: tree-sitter finds injected
---languages at once. Before Neovim 0.11 it also parses all at once, and reads its queries for each buffer.
local TREE_SITTER_LIMIT = vim.fn.has("nvim-0.11") == 1 and 64 * 1024 or -1

---In bytes. Patterns for a line of 64 KB take up to 90 ms, and fail (E363) where they take too much memory.
local LONGEST_HIGHLIGHTED_LINE = 16 * 1024

---Of a buffer Neovim itself looks at as many first lines, and the last one, to find its filetype; of
---a text it would look at all.
local DETECTED_LINES = 100
---Of each.
local DETECTED_BYTES = 1000

---What an edit of the proposal needs from the file's own buffer, as no ftplugin runs.
local EDITING_OPTIONS = {
  "comments",
  "commentstring",
  "expandtab",
  "iskeyword",
  "shiftwidth",
  "softtabstop",
  "tabstop",
  "textwidth",
}

local M = {}

---@param name string
---@param lines string[]
---@param file string the path whose text this is, by which it is private or not
---@return integer buf
function M.create(name, lines, file)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].modifiable = true
  M.fill(buf, lines)
  vim.bo[buf].undofile = false
  vim.bo[buf].bufhidden = "hide"
  pcall(api.nvim_buf_set_name, buf, name)
  vim.b[buf].claude_code_file = file
  return buf
end

---Replaces the whole text; undo does not go behind it.
---@param buf integer
---@param lines string[]
function M.fill(buf, lines)
  local modifiable = vim.bo[buf].modifiable
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = modifiable
  vim.bo[buf].undolevels = vim.go.undolevels
  vim.bo[buf].modified = false
end

---The next edit can be undone by itself.
---@param buf integer
function M.close_undo_block(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---By a buffer: 0.10 does not look at the option `contents` for all file types, such as TypeScript.
---@param path string
---@param lines string[]
---@return string filetype "" if unknown
function M.filetype_of(path, lines)
  local contents = vim.list_slice(lines, 1, DETECTED_LINES)
  contents[#contents + 1] = #lines > DETECTED_LINES and lines[#lines] or nil
  contents = vim.tbl_map(function(line)
    return line:sub(1, DETECTED_BYTES)
  end, contents)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, contents)
  -- Neovim's patterns take 30 ms on a path of 4,096 bytes.
  local name = #path > 512 and vim.fs.basename(path) or path
  local ok, filetype = pcall(vim.filetype.match, { buf = buf, filename = name })
  api.nvim_buf_delete(buf, { force = true })
  return ok and filetype or ""
end

---@param buf integer
---@return boolean
local function has_long_line(buf)
  return vim.iter(api.nvim_buf_get_lines(buf, 0, -1, false)):any(function(line)
    return #line > LONGEST_HIGHLIGHTED_LINE
  end)
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

---Colours as the file has them, without FileType autocommands: no language server, linter or formatter may
---attach.
---@param buf integer
---@param like? integer the file's own buffer
function M.highlight(buf, like)
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
    local ignored = vim.o.eventignore
    vim.o.eventignore = ""
    pcall(api.nvim_set_option_value, "syntax", syntax ~= "" and syntax or filetype, { buf = buf })
    vim.o.eventignore = ignored
  end
end

---@param buf integer
---@param like integer the file's own buffer
function M.copy_editing_options(buf, like)
  for _, option in ipairs(EDITING_OPTIONS) do
    vim.bo[buf][option] = vim.bo[like][option]
  end
end

return M
