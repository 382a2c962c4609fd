--- The plugin's highlight groups. They use groups that each colour scheme defines, and the user's definitions override
--- them. A module with highlights requires this one.
local api = vim.api

---@class claude-code.HighlightGroup
---@field [1] string
---@field [2]? string group to link to
---@field [3] string description for the help
---@field background? table<"dark"|"light", [string, integer]> GUI and terminal colours, if [2] has no background

local M = {}

---@type table<string, claude-code.HighlightGroup[]> by section of the help
M.groups = {
  -- A changed line needs a background, which many schemes do not define.
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
      "unsaved edits, conflicts, hidden characters, files outside of the workspace",
    },
    { "ClaudeCodeAccepted", "DiagnosticOk", "a hunk accepted alone" },
  },
  comments = {
    { "ClaudeCodeComment", "DiagnosticInfo", "a comment that waits to be sent" },
    { "ClaudeCodeCommentSent", "Comment", "a comment that was sent" },
  },
  sessions = {
    { "ClaudeCodeSessionBlocked", "DiagnosticWarn", "the state of a session that needs input" },
    { "ClaudeCodeSessionWorking", "DiagnosticInfo", "the state of a working session" },
    { "ClaudeCodeSessionDone", "DiagnosticOk", "the state of a session after its turn" },
    { "ClaudeCodeSessionError", "DiagnosticError", "the state of a failed session" },
    { "ClaudeCodeSessionIdle", "Comment", "the state of an idle session, or an unknown state" },
    { "ClaudeCodeSessionCurrent", "Title", "the name of the session on screen" },
    { "ClaudeCodeSessionOther", "Comment", "other names, and the session's activity" },
  },
  transcript = {
    { "ClaudeCodeTranscriptPrompt", "CursorLine", "the lines of your prompts" },
    { "ClaudeCodeTranscriptFollowed", "Visual", "the lines that Claude reads or edits" },
    { "ClaudeCodeTranscriptFailed", "DiagnosticError", "a call that failed" },
  },
}

local set = {} ---@type table<string, vim.api.keyset.get_hl_info> a group that differs now is the user's

---Neovim itself would follow links by the current window's 'winhighlight'.
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
    -- Windows of a diff replace the groups of diff mode, so a link would not work there.
    local colour = group.background[vim.o.background]
    return background_of(group[2]) or { bg = colour[1], ctermbg = colour[2] }
  end
  return { link = group[2] }
end

local function set_all()
  for _, group in vim.iter(vim.tbl_values(M.groups)):flatten():enumerate() do
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
