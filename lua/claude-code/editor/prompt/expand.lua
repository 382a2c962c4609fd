--- What stands in a prompt for something else: `{selection}`, `{diagnostics}`, `{quickfix}` and `{diff}` become that
--- when it is sent.
local api = vim.api
local notify = require("claude-code.messages.notify")

local M = {
  --- For the completion.
  ---@type table<string, string>
  NAMES = {
    selection = "the lines that you selected last in the file",
    diagnostics = "the problems of the file",
    quickfix = "the quickfix list",
    diff = "what git says has changed in the work tree",
  },
}

--- More of each would fill the context.
local MOST_LINES, MOST_BYTES = 500, 60000

---@param lines string[]
---@return string[] lines as many as may be sent, with a last one that says so
local function cut(lines)
  local bytes, kept = 0, {}
  for _, line in ipairs(lines) do
    bytes = bytes + #line + 1
    if #kept == MOST_LINES or bytes > MOST_BYTES then
      kept[#kept + 1] = ("… %d more lines"):format(#lines - #kept)
      break
    end
    kept[#kept + 1] = line
  end
  return kept
end

local function shown_path(buf)
  return vim.fn.fnamemodify(api.nvim_buf_get_name(buf), ":.")
end

---@param lines string[]
---@param language? string
local function fenced(lines, language)
  local text = table.concat(cut(lines), "\n")
  local fence = "```"
  while text:find(fence, 1, true) do
    fence = fence .. "`"
  end
  return ("%s%s\n%s\n%s"):format(fence, language or "", text, fence)
end

---@param buf integer the user's file
---@return string?
local function selection(buf)
  local first = api.nvim_buf_get_mark(buf, "<")[1]
  local last = api.nvim_buf_get_mark(buf, ">")[1]
  if first == 0 or last < first then
    return nil
  end
  local lines = api.nvim_buf_get_lines(buf, first - 1, last, false)
  return ("%s:%d-%d\n%s"):format(shown_path(buf), first, last, fenced(lines, vim.bo[buf].filetype))
end

---@return string?
local function diagnostics(buf)
  local lines = vim.tbl_map(function(item)
    local severity = vim.diagnostic.severity[item.severity]
    local text = item.message:gsub("%s*\n%s*", " ")
    return ("%s:%d:%d %s: %s"):format(shown_path(buf), item.lnum + 1, item.col + 1, severity, text)
  end, vim.diagnostic.get(buf))
  return #lines > 0 and fenced(lines) or nil
end

---@return string?
local function quickfix()
  local is_private = require("claude-code.editor.privacy").is_private
  local lines = {}
  for _, item in ipairs(vim.fn.getqflist()) do
    local name = item.bufnr > 0 and api.nvim_buf_get_name(item.bufnr) or ""
    if not is_private(name) then
      local place = name ~= "" and ("%s:%d: "):format(vim.fn.fnamemodify(name, ":."), item.lnum)
        or ""
      lines[#lines + 1] = place .. vim.trim(item.text)
    end
  end
  return #lines > 0 and fenced(lines) or nil
end

--- Calls back with the difference, by the executable's git, which runs nothing of the repository's.
---@param callback fun(text?: string, problem?: string)
local function diff(callback)
  local folder = require("claude-code.lib.workspace").tab_folder(0)
  local params = { folder = folder }
  require("claude-code.server.requests").request("prompt/diff", params, function(text, problem)
    callback(text and text ~= "" and fenced(vim.split(text, "\n"), "diff") or nil, problem)
  end)
end

---@param buf integer
---@param names table<string, true> those that the text has
---@param callback fun(found: table<string, string>, problem?: string)
local function find(buf, names, callback)
  local is_file = api.nvim_buf_is_loaded(buf)
    and not require("claude-code.editor.privacy").hides(buf)
    and api.nvim_buf_get_name(buf) ~= ""
  local found = {
    selection = names.selection and is_file and selection(buf) or nil,
    diagnostics = names.diagnostics and is_file and diagnostics(buf) or nil,
    quickfix = names.quickfix and quickfix() or nil,
  }
  if not names.diff then
    return callback(found)
  end
  diff(function(text, problem)
    found.diff = text
    callback(found, problem)
  end)
end

--- Expands a prompt; what has nothing to stand for is left out, and a message names it.
---@param text string
---@param buf integer the buffer in which the user was
---@param callback fun(text?: string) nil: it cannot be expanded, and a message said why
function M.run(text, buf, callback)
  local names = {}
  for name in text:gmatch("{(%l+)}") do
    names[name] = M.NAMES[name] and true or nil
  end
  find(buf, names, function(found, problem)
    if problem then
      notify.error("your prompt was not sent: " .. problem)
      return callback(nil)
    end
    for name in pairs(names) do
      if not found[name] then
        notify.warn(("{%s} was left out of your prompt: there is nothing of it"):format(name))
      end
    end
    callback((text:gsub("{(%l+)}", function(name)
      return names[name] and (found[name] or "")
    end)))
  end)
end

return M
