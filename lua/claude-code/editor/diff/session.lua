--- One proposal: its data, its two scratch buffers, how it ended.
local api = vim.api
local path = require("claude-code.editor.path")
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
---@field place? claude-code.DiffPlace where it is shown
---@field deaf? claude-code.Deafness while it does not listen to keys
---@field stand? claude-code.Stand
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

---@param label string
---@param lines string[]
---@param file string the path whose text this is, by which it is private or not
---@return integer buf
local function scratch(label, lines, file)
  local buf = api.nvim_create_buf(false, true)
  -- The undo history starts at this text: undo must not lead to an empty buffer.
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].undolevels = vim.go.undolevels
  vim.bo[buf].undofile = false
  vim.bo[buf].bufhidden = "hide"
  pcall(api.nvim_buf_set_name, buf, label)
  vim.b[buf].claude_code_file = file
  vim.bo[buf].modified = false
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
---@param filetype string
local function highlight(buf, filetype)
  vim.bo[buf].filetype = filetype
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

---@param self claude-code.Diff
local function refill_old_side(self)
  vim.bo[self.old_buf].modifiable = true
  api.nvim_buf_set_lines(self.old_buf, 0, -1, false, self.old.lines)
  vim.bo[self.old_buf].modifiable = false
  vim.bo[self.old_buf].modified = false
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
    refill_old_side(self)
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
  local filetype = filetype_of(self, self.proposal.lines)
  highlight(self.old_buf, filetype)
  highlight(self.new_buf, filetype)
  vim.bo[self.old_buf].modifiable = false
  vim.bo[self.new_buf].buftype = "acwrite"
  vim.bo[self.new_buf].readonly = false
  for _, option in ipairs(self.target and EDITING_OPTIONS or {}) do
    vim.bo[self.new_buf][option] = vim.bo[self.target][option]
  end
end

---@class claude-code.DiffResult
---@field lines? string[] without line ends; nil if they are as proposed
---@field newline? boolean does the last line end with one? nil: as proposed
---@field empty boolean nothing of the proposal is left: the lines are the old file's

---What the proposal has become by the person's hand.
---@return claude-code.DiffResult
function Session:result()
  if not (self.new_buf and api.nvim_buf_is_loaded(self.new_buf)) then
    return { empty = false }
  end
  local lines = api.nvim_buf_get_lines(self.new_buf, 0, -1, false)
  local proposed, old = self.proposal, self.old
  if same(lines, proposed.lines) then
    return { empty = false }
  end
  local result = { lines = lines, empty = self.differs and same(lines, old.lines) }
  local last = lines[#lines]
  -- Taken from the old file, then with its newline or without.
  if self.exists and last == old.lines[#old.lines] and last ~= proposed.lines[#proposed.lines] then
    result.newline = old.newline
  end
  return result
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
