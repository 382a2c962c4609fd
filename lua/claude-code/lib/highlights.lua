--- The plugin's highlight groups. Each links to a group of every colour scheme, and so suits a dark and a light
--- 'background'; the user's own definition wins. A module that uses a group requires this one.
local api = vim.api

---@class claude-code.HighlightGroup
---@field [1] string
---@field [2]? string the group it links to
---@field [3] string description for the help
---@field background? table<"dark"|"light", [string, integer]> GUI and terminal colour, if [2] has no background

local M = {}

---@type table<string, claude-code.HighlightGroup[]> by section of the help
M.groups = {
  -- A changed line needs a background. The default scheme has none for deleted lines; some schemes reverse the text
  -- instead.
  changes = {
    {
      "ClaudeCodeAdd",
      "DiffAdd",
      "lines that Claude adds or changes",
      background = { dark = { "NvimDarkGreen", 22 }, light = { "NvimLightGreen", 194 } },
    },
    {
      "ClaudeCodeAddText",
      nil,
      "what changes within such a line",
      background = { dark = { "#0a7d3c", 28 }, light = { "#6fdc8c", 114 } },
    },
    {
      "ClaudeCodeDelete",
      "DiffDelete",
      "lines that Claude deletes, and the old form of changed ones",
      background = { dark = { "NvimDarkRed", 52 }, light = { "NvimLightRed", 224 } },
    },
    {
      "ClaudeCodeDeleteText",
      nil,
      "what changes within such a line",
      background = { dark = { "#8c1420", 88 }, light = { "#ff9890", 210 } },
    },
    { "ClaudeCodeFiller", "NonText", "filler for lines only on the other side" },
    { "ClaudeCodeAddSign", "Added", "signs and number of added lines" },
    { "ClaudeCodeChangeSign", "Changed", "signs of changed lines, outside of a review" },
    { "ClaudeCodeDeleteSign", "Removed", "signs and number of deleted lines" },
    { "ClaudeCodeBarFile", "Title", "the file's name in the bar" },
    { "ClaudeCodeBarCount", "Number", "which hunk of how many, and which diff or file" },
    { "ClaudeCodeBarKey", "Special", "keys in the bar" },
    { "ClaudeCodeNote", "Comment", "less important words" },
    {
      "ClaudeCodeWarning",
      "WarningMsg",
      "unsaved edits, conflicts, hidden characters, a file outside of the workspace",
    },
    { "ClaudeCodeAccepted", "DiagnosticOk", "a hunk accepted alone" },
  },
  comments = {
    { "ClaudeCodeComment", "DiagnosticInfo", "a comment that waits to be sent" },
    { "ClaudeCodeCommentSent", "Comment", "a comment that was sent" },
  },
  sessions = {
    { "ClaudeCodeSessionBlocked", "DiagnosticWarn", "the state of a session that needs input" },
    { "ClaudeCodeSessionWorking", "DiagnosticInfo", "the state of one that works" },
    { "ClaudeCodeSessionDone", "DiagnosticOk", "the state of one that is done" },
    { "ClaudeCodeSessionError", "DiagnosticError", "the state of one that failed" },
    { "ClaudeCodeSessionIdle", "Comment", "the state of one that is idle, or unknown" },
    { "ClaudeCodeSessionCurrent", "Title", "the name of the session on screen" },
    { "ClaudeCodeSessionOther", "Comment", "other names, and what the session does" },
  },
  transcript = {
    { "ClaudeCodeTranscriptPrompt", "CursorLine", "the lines of your prompts" },
    { "ClaudeCodeTranscriptFollowed", "Visual", "the lines that Claude reads or edits" },
    { "ClaudeCodeTranscriptFailed", "DiagnosticError", "a call that failed" },
  },
}

---Groups as set here. A group that differs now is the user's.
local set = {} ---@type table<string, vim.api.keyset.get_hl_info>

---Neovim would follow links by the 'winhighlight' of the current window.
---@return table? background
local function background_of(name)
  local found = name and api.nvim_get_hl(0, { name = name }) or {}
  if found.link then
    return background_of(found.link)
  end
  local has_one = (found.bg or found.ctermbg) and not found.reverse
  return has_one and { bg = found.bg, ctermbg = found.ctermbg } or nil
end

local function values_of(group)
  if group.background then
    -- A link would fail in the windows of a diff, which replace diff mode's groups.
    local colour = group.background[vim.o.background]
    return background_of(group[2]) or { bg = colour[1], ctermbg = colour[2] }
  end
  return { link = group[2] }
end

local function set_all()
  for _, group in ipairs(vim.iter(vim.tbl_values(M.groups)):flatten():totable()) do
    local name = group[1]
    local now = api.nvim_get_hl(0, { name = name })
    if vim.tbl_isempty(now) or vim.deep_equal(now, set[name]) then
      api.nvim_set_hl(0, name, values_of(group))
      set[name] = api.nvim_get_hl(0, { name = name })
    end
  end
end

set_all()
local events = require("claude-code.lib.autocommands").new("highlights")
---Colour schemes clear unknown groups.
events:on("ColorScheme", set_all)
events:on("OptionSet", set_all, { pattern = "background" })

return M
