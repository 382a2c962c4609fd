--- One proposal: its data, its two scratch buffers, how it ended.
local api = vim.api
local hunks = require("claude-code.editor.diff.hunks")
local path = require("claude-code.editor.documents.path")
local text = require("claude-code.editor.diff.text")

---A side beyond this size, in bytes, gets no syntax highlighting: parsing would freeze the editor.
local HIGHLIGHT_LIMIT = 512 * 1024

---Of a buffer Neovim itself looks at as many first lines, and the last one, to find its filetype; of
---a text it would look at all.
local DETECTED_LINES = 100

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

---@alias claude-code.DiffOutcome "accepted"|"rejected"|"closed" closed: by the executable, which knows

---@class claude-code.DiffParams
---@field id integer
---@field client integer
---@field old_path string
---@field new_path string
---@field contents string
---@field name? string

---@class claude-code.Diff
---@field id integer
---@field client integer which of the executable's clients proposed it
---@field old_path string
---@field new_path string the file that is to be written
---@field proposal claude-code.Text
---@field old claude-code.Text the file on disk; one empty line if there is none
---@field old_text? string its lines joined, for hunks.lua
---@field hunk_cache? claude-code.HunkCache
---@field overview? claude-code.Overview what the bars tell of it, as it was last looked at
---@field drawn? claude-code.Drawing its colours and virtual lines in the inline layout
---@field deleted table<integer, { count: integer, lines: claude-code.Chunk[][] }> coloured ones, by first
--- old line
---@field number integer which of its series
---@field series { total: integer } those that wait together, until none waits
---@field differs boolean the proposal's lines differ from the file's, not just their ends
---@field merge? claude-code.Merge the last merge with unsaved edits
---@field mixed boolean the proposal's lines keep their CR, so the old file's must do so, or lines
--- of it that are put in there would lose theirs
---@field outcome? claude-code.DiffOutcome set once
---@field exists boolean the old file was there when the diff was shown
---@field unsaved boolean a buffer holds edits of the file that are not on disk
---@field signature string of the files on disk, when it was proposed or last read
---@field overtaken boolean the file on disk is another than the one it was proposed for
---@field agreed boolean the person was told so when they accepted, and may accept again
---@field told { unsaved?: boolean, overtaken?: boolean }
---@field target? integer buffer of the file, if one is loaded
---@field old_buf? integer
---@field new_buf? integer
---@field label? string name of `new_buf`
---@field place? claude-code.DiffPlace where it is shown
---@field deaf? claude-code.Deafness while it does not listen to keys
---@field stand? claude-code.Stand
---@field keys? { buf: integer, key: string }[] that are mapped
---@field choice? claude-code.Choice as it was when it was last asked for
---@field seen? boolean it was on screen before
---@field hinted? boolean the person was told that this write accepts nothing
---@field announced? boolean the person was told that it waits
---@field delayed? boolean it waited for the keyboard to be quiet
local Session = {}
Session.__index = Session

---@type claude-code.Text
local NOTHING = { lines = { "" }, crlf = false, bom = false, newline = false }

local M = {}

---@param name string
---@return string
local function state_of(name)
  local stat = vim.uv.fs_stat(name)
  local time = stat and stat.mtime
  return stat and ("%d:%d:%d:%d"):format(time.sec, time.nsec, stat.size, stat.ino) or "none"
end

---@param params { old_path: string, new_path: string }
---@return string signature another one once a file was written
local function signature(params)
  return state_of(params.old_path) .. " " .. state_of(params.new_path)
end

---@param params claude-code.DiffParams
---@return claude-code.Diff
function M.new(params)
  local proposal = text.parse(params.contents)
  return setmetatable({
    id = params.id,
    client = params.client,
    old_path = params.old_path,
    new_path = params.new_path,
    proposal = proposal,
    mixed = not proposal.crlf and params.contents:find("\r\n", 1, true) ~= nil,
    old = NOTHING,
    signature = signature(params),
    overtaken = false,
    agreed = false,
    told = {},
    deleted = {},
    number = 1,
    series = { total = 1 },
    differs = true,
    exists = false,
    unsaved = false,
  }, Session)
end

---Undo does not go behind this text.
---@param buf integer
---@param lines string[]
local function fill(buf, lines)
  local modifiable = vim.bo[buf].modifiable
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = modifiable
  vim.bo[buf].undolevels = vim.go.undolevels
  vim.bo[buf].modified = false
end

---@param label string
---@param lines string[]
---@param file string the path whose text this is, by which it is private or not
---@return integer buf
local function scratch(label, lines, file)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].modifiable = true
  fill(buf, lines)
  vim.bo[buf].undofile = false
  vim.bo[buf].bufhidden = "hide"
  pcall(api.nvim_buf_set_name, buf, label)
  vim.b[buf].claude_code_file = file
  return buf
end

---@param session claude-code.Diff
---@param lines string[]
---@return string filetype "" if unknown
local function filetype_of(session, lines)
  if session.target then
    return vim.bo[session.target].filetype
  end
  local contents = vim.list_slice(lines, 1, DETECTED_LINES)
  contents[#contents + 1] = #lines > DETECTED_LINES and lines[#lines] or nil
  return vim.filetype.match({ filename = session.new_path, contents = contents }) or ""
end

---Colours without FileType autocommands: no language server, linter or formatter may attach.
---@param buf integer
local function highlight(buf)
  local filetype = vim.bo[buf].filetype
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  if filetype == "" or size > HIGHLIGHT_LIMIT then
    return
  end
  local language = vim.treesitter.language.get_lang(filetype) or filetype
  if not pcall(vim.treesitter.start, buf, language) then
    -- 'syntax' works through its own autocommand.
    local ignored = vim.o.eventignore
    vim.o.eventignore = ""
    pcall(api.nvim_set_option_value, "syntax", filetype, { buf = buf })
    vim.o.eventignore = ignored
  end
end

---@param a string[]
---@param b string[]
---@return boolean
local function same(a, b)
  if #a ~= #b then
    return false
  end
  for i, line in ipairs(a) do
    if line ~= b[i] then
      return false
    end
  end
  return true
end

---@param some claude-code.Text
---@return boolean
local function has_text(some)
  return some.newline or not same(some.lines, NOTHING.lines)
end

---@param self claude-code.Diff
local function read_old(self)
  -- Before reading: what is written meanwhile is noticed the next time.
  self.signature = signature(self)
  local old = text.of_file(self.old_path, self.mixed)
  self.exists = old ~= nil
  self.old = old or NOTHING
  self.old_text, self.hunk_cache, self.deleted = nil, nil, {}
  self.differs = not same(self.old.lines, self.proposal.lines)
end

---Are the buffers there, because the diff was looked at before?
---@return boolean
function Session:is_prepared()
  return self.old_buf ~= nil
    and api.nvim_buf_is_loaded(self.old_buf)
    and api.nvim_buf_is_loaded(self.new_buf)
end

---Is it on screen, undecided, with all it is made of?
---@return boolean
function Session:is_shown()
  return self.place ~= nil and not self.outcome and self:is_prepared()
end

---Looks for what was written to disk since the diff was proposed, or last looked at, and brings the
---old side up to date.
---@return boolean changed
function Session:catch_up()
  if signature(self) == self.signature then
    return false
  end
  local before, existed = self.old, self.exists
  if self:is_prepared() then
    read_old(self)
    local unchanged = existed == self.exists and vim.deep_equal(before, self.old)
    if unchanged and self.old_path == self.new_path then
      return false
    end
    fill(self.old_buf, self.old.lines)
  else
    self.signature = signature(self)
  end
  self.overtaken, self.agreed, self.told.overtaken = true, false, false
  return true
end

---Looks for the file's buffer, and for unsaved edits in it.
---@return boolean changed
function Session:find_edits()
  self.target = path.loaded_buffer(self.new_path)
  local unsaved = self.target ~= nil and vim.bo[self.target].modified
  local changed = unsaved ~= self.unsaved
  self.unsaved = unsaved
  return changed
end

---Reads the old file and makes both buffers. Called with autocommands off.
function Session:prepare()
  self:find_edits()
  self:catch_up()
  if self:is_prepared() then
    return
  end
  self:discard()
  read_old(self)
  local base = path.base(self.new_path)
  local prefix = ("claude-code://%s/%s"):format(self.id, base)
  local old = prefix .. (self.exists and " (on disk)" or " (new file)")
  self.old_buf = scratch(old, self.old.lines, self.old_path)
  self.new_buf = scratch(prefix .. " (proposed)", self.proposal.lines, self.new_path)
  self.label = api.nvim_buf_get_name(self.new_buf)
  local filetype = filetype_of(self, self.proposal.lines)
  for _, buf in ipairs({ self.old_buf, self.new_buf }) do
    vim.bo[buf].filetype = filetype
    highlight(buf)
  end
  vim.bo[self.old_buf].modifiable = false
  vim.bo[self.new_buf].buftype = "acwrite"
  vim.bo[self.new_buf].readonly = false
  for _, option in ipairs(self.target and EDITING_OPTIONS or {}) do
    vim.bo[self.new_buf][option] = vim.bo[self.target][option]
  end
end

---Fills one of its buffers again, which `:edit!` has emptied: there is no file of its name to read.
---@param buf integer
function Session:read_again(buf)
  fill(buf, buf == self.new_buf and self.proposal.lines or self.old.lines)
  highlight(buf)
end

---@class claude-code.DiffResult
---@field lines? string[] without line ends; nil if they are as proposed
---@field newline? boolean does the last line end with one? nil: as proposed
---@field empty boolean nothing of the proposal is left: the lines are the old file's

---@param lines string[]
---@param other string[]
---@return boolean is the last line of one that of the other, too?
local function ends_as(lines, other)
  -- With a line before them, as a lone empty one counts as none.
  local old, new = vim.list_extend({ "" }, other), vim.list_extend({ "" }, lines)
  local list = hunks.between(old, new)
  return #list == 0 or select(2, hunks.rows(list[#list])) < #new
end

---A last newline goes with its line, which came with the proposal unless the old file's end was put
---back in place of the proposal's. Comparing that line alone would not do: many files end in a line
---like some before.
---@param self claude-code.Diff
---@param lines string[]
---@return boolean? newline nil: as proposed
local function newline_of(self, lines)
  local proposed, old = self.proposal, self.old
  if not has_text(old) or old.newline == proposed.newline then
    return nil
  elseif ends_as(lines, old.lines) and not ends_as(proposed.lines, old.lines) then
    return old.newline
  end
end

---What these lines are, in place of the proposal's.
---@param lines string[]
---@return claude-code.DiffResult
function Session:result_of(lines)
  if same(lines, self.proposal.lines) then
    return { empty = false }
  end
  return {
    lines = lines,
    newline = newline_of(self, lines),
    empty = self.differs and same(lines, self.old.lines),
  }
end

---The text that accepting these lines gives, by the rule of src/ide/proposal.ts.
---@param lines string[]
---@return string
function Session:text_of(lines)
  local result, proposed = self:result_of(lines), self.proposal
  local newline = result.newline
  if newline == nil then
    newline = proposed.newline or (result.lines ~= nil and not has_text(proposed))
  end
  return text.join(lines, proposed, newline)
end

---What the proposal has become by the person's hand.
---@return claude-code.DiffResult
function Session:result()
  if not (self.new_buf and api.nvim_buf_is_loaded(self.new_buf)) then
    return { empty = false }
  end
  return self:result_of(api.nvim_buf_get_lines(self.new_buf, 0, -1, false))
end

---@return string? words what the proposal changes if it changes no line
function Session:change_of_ends()
  return self.exists and not self.differs and text.change_of_ends(self.old, self.proposal) or nil
end

---Leaves no scratch buffer behind, and with its events nothing of them in what others keep by
---buffer (vim.diagnostic does, for the statusline).
function Session:discard()
  for _, buf in pairs({ old = self.old_buf, new = self.new_buf }) do
    if api.nvim_buf_is_valid(buf) then
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end
  self.old_buf, self.new_buf, self.hunk_cache = nil, nil, nil
end

return M
