--- The scratch buffers of a diff: the file on disk, and the proposed text. Their colours are those of the file,
--- without FileType autocommands: no language server, linter or formatter may attach.
local api = vim.api
local file_lines = require("claude-code.editor.documents.lines")
local notify = require("claude-code.messages.notify")
local parsing = require("claude-code.editor.documents.parsing")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")

---Bytes of a line that 'syntax' colours: with 3,000, the default, Neovim may match patterns for 700 ms.
local COLOURED_PART = 200

---Options for edits of the proposal, from the file's own buffer, since no ftplugin runs.
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

---A buffer with more bytes gets no syntax highlighting, since parsing would freeze Neovim.
local HIGHLIGHT_LIMIT = 512 * 1024
---'syntax' colours a buffer with more bytes, since it reads only the lines on screen: tree-sitter finds all injected
---languages at once. Before Neovim 0.11 it also parses everything at once, and reads its queries for each buffer.
local TREE_SITTER_LIMIT = vim.fn.has("nvim-0.11") == 1 and 64 * 1024 or -1

---In bytes. Matching patterns in a line of 64 KB takes up to 90 ms, and may fail for lack of memory (E363).
local MAX_HIGHLIGHTED_LINE = 16 * 1024

local M = {}

---@param file string the path that the text is from, which says whether it is private
---@param target? integer the file's own buffer
local function create(name, lines, file, target)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].modifiable = true
  M.fill(buf, lines)
  vim.bo[buf].undofile = false
  vim.bo[buf].synmaxcol = COLOURED_PART
  vim.bo[buf].bufhidden = "hide"
  pcall(api.nvim_buf_set_name, buf, name)
  vim.b[buf].claude_code_file = file
  -- A moment later, since Neovim answers keys first.
  timer.once(1, function()
    M.colour(buf, target)
  end)
  return buf
end

---Replaces the whole text, and forgets the undo history.
function M.fill(buf, lines)
  local modifiable = vim.bo[buf].modifiable
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = modifiable
  vim.bo[buf].undolevels = vim.go.undolevels
  vim.bo[buf].modified = false
end

---Tree-sitter takes 30 to 60 ms to read the queries of C: use it only if the user's buffers do, or without 'syntax'.
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

local function colour(buf, like)
  local filetype = vim.bo[buf].filetype
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  local lines = api.nvim_buf_get_lines(buf, 0, -1, true)
  local has_long_line = vim.iter(lines):any(function(line)
    return #line > MAX_HIGHLIGHTED_LINE
  end)
  if filetype == "" or size > HIGHLIGHT_LIMIT or has_long_line then
    return
  end
  local language = vim.treesitter.language.get_lang(filetype) or filetype
  local wanted = size <= TREE_SITTER_LIMIT
    and not parsing.is_deep(lines)
    and is_for_tree_sitter(language, like)
  parsing.guard(buf)
  if not wanted or not pcall(vim.treesitter.start, buf, language) then
    local syntax = like and vim.bo[like].syntax or ""
    -- 'syntax' works through its own autocommand.
    vim.o.eventignore = ""
    pcall(api.nvim_set_option_value, "syntax", syntax ~= "" and syntax or filetype, { buf = buf })
  end
end

---Adds colours at once. Neovim's big syntax files, such as those of CSS and Markdown, take 20 ms.
---@param like? integer the file's own buffer
function M.colour(buf, like)
  if api.nvim_buf_is_loaded(buf) then
    like = like and api.nvim_buf_is_loaded(like) and like or nil
    windows.noautocmd(function()
      colour(buf, like)
    end)
  end
end

local function name_of(proposal, state)
  -- Neovim's tab line shortens each folder of a name to one letter.
  local title = proposal:title()
  local folder = path.base(vim.fs.dirname(title))
  local name = path.base(title) .. (folder == "." and "" or " in " .. folder)
  return ("claude-code://%s/%s (%s)"):format(proposal.id, name, state)
end

---@param buf? integer
function M.delete(buf)
  if buf and api.nvim_buf_is_valid(buf) then
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
end

---Keeps the user's version, which no one has received, in a modified buffer without a name: Neovim asks before exit.
---@param what string what happened
function M.keep(title, lines, filetype, what)
  local buf = api.nvim_create_buf(true, false)
  M.fill(buf, lines)
  windows.noautocmd(function()
    vim.bo[buf].filetype = filetype
  end)
  M.colour(buf)
  vim.bo[buf].modified = true
  local message = "%s: your version of %s is in buffer %d; :buffer %d shows it"
  notify.warn(message:format(what, title, buf, buf))
end

---Keeps a text that the user edited and accepted, but that could not be written.
---@param params { path: string, text: string, problem: string }
function M.unwritten(params)
  local lines = file_lines.parse(params.text).lines
  local what = ("writing the file failed (%s)"):format(params.problem)
  local filetype = vim.filetype.match({ filename = params.path, contents = lines })
  M.keep(path.title(params.path), lines, filetype or "", what)
end

---@return integer buf
function M.proposed_side(proposal)
  M.delete(proposal.new_buf)
  local name, target = name_of(proposal, "proposed"), proposal.target
  local buf = create(name, proposal.proposed.lines, proposal.new_path, target)
  local ok, filetype = pcall(vim.filetype.match, { buf = buf, filename = proposal.new_path })
  vim.bo[buf].filetype = target and vim.bo[target].filetype or ok and filetype or ""
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].readonly = false
  for _, option in ipairs(target and EDITING_OPTIONS or {}) do
    vim.bo[buf][option] = vim.bo[target][option]
  end
  return buf
end

---@param proposal claude-code.Proposal with its proposed side
---@return integer buf
function M.old_side(proposal)
  M.delete(proposal.old_buf)
  local name = name_of(proposal, proposal.exists and "on disk" or "new file")
  local buf = create(name, proposal.old.lines, proposal.base_path, proposal.target)
  vim.bo[buf].filetype = vim.bo[proposal.new_buf].filetype
  vim.bo[buf].modifiable = false
  return buf
end

return M
