--- Replaces the placeholders `{selection}`, `{diagnostics}` and `{quickfix}` of a prompt, leaving out private files.
local api = vim.api
local path = require("claude-code.editor.documents.path")

local M = {
  ---@type table<string, string> descriptions for the completion, by name
  NAMES = {
    diagnostics = "the problems of the file",
    quickfix = "the quickfix list",
    selection = "the lines that you selected last in the file",
  },
}

---Limits of each placeholder: more would fill Claude's context.
local MAX_LINES, MAX_BYTES = 500, 60000

local function shown_path(buf)
  return path.title(api.nvim_buf_get_name(buf), ":.")
end

---@return string? text with a note about lines that were cut; nil without lines
local function fenced(lines, language)
  local bytes, kept = 0, {}
  for _, line in ipairs(lines) do
    bytes = bytes + #line + 1
    if #kept == MAX_LINES or bytes > MAX_BYTES then
      kept[#kept + 1] = ("… %d more lines"):format(#lines - #kept)
      break
    end
    kept[#kept + 1] = line
  end
  local text = table.concat(kept, "\n")
  return #lines > 0 and require("claude-code.lib.text").fenced(text, language or "") or nil
end

---@return string? text lines of a buffer with their place; nil without lines
---@return string place
function M.lines(buf, first, last)
  local lines = api.nvim_buf_get_lines(buf, first - 1, last, false)
  local rows = first == last and tostring(first) or ("%d-%d"):format(first, last)
  local is_named = api.nvim_buf_get_name(buf) ~= ""
  local place = is_named and ("%s:%s"):format(shown_path(buf), rows) or "lines " .. rows
  local text = fenced(lines, vim.bo[buf].filetype)
  return text and place .. "\n" .. text, place
end

---@type table<string, fun(buf: integer): string?> by name
local FIND = {
  diagnostics = function(buf)
    return fenced(vim.tbl_map(function(item)
      local severity = vim.diagnostic.severity[item.severity]
      local text = item.message:gsub("%s*\n%s*", " ")
      local place = ("%s:%d:%d"):format(shown_path(buf), item.lnum + 1, item.col + 1)
      return ("%s %s: %s"):format(place, severity, text)
    end, vim.diagnostic.get(buf)))
  end,
  quickfix = function()
    local lines = {}
    for _, item in ipairs(vim.fn.getqflist()) do
      local is_file = item.bufnr > 0 and api.nvim_buf_get_name(item.bufnr) ~= ""
      if not (is_file and require("claude-code.editor.privacy").hides(item.bufnr)) then
        local place = is_file and ("%s:%d: "):format(shown_path(item.bufnr), item.lnum) or ""
        lines[#lines + 1] = place .. vim.trim(item.text)
      end
    end
    return fenced(lines)
  end,
  selection = function(buf)
    local first, last = api.nvim_buf_get_mark(buf, "<")[1], api.nvim_buf_get_mark(buf, ">")[1]
    return first > 0 and (M.lines(buf, first, last)) or nil
  end,
}

---@param buf integer of the user's file
---@return string expanded, string? missing name of the first placeholder without a value
function M.run(text, buf)
  local is_file = api.nvim_buf_is_loaded(buf)
    and api.nvim_buf_get_name(buf) ~= ""
    and not require("claude-code.editor.privacy").hides(buf)
  local missing
  local expanded = text:gsub("{(%l+)}", function(name)
    local found = FIND[name] and (is_file or name == "quickfix") and FIND[name](buf)
    missing = missing or FIND[name] and not found and name or nil
    return found or nil
  end)
  return expanded, missing
end

return M
