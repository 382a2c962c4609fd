--- The problems that language servers find in a proposal, as vim.diagnostic shows them, and only
--- there: vim.diagnostic does not keep them, so they are in no list, no count and no quickfix list.
local api = vim.api

---@type string[] by vim.diagnostic.severity
local SEVERITY_NAMES = { "Error", "Warning", "Information", "Hint" }

---@type table<string, fun(problems: claude-code.LspProblems)>
local KEYS = {
  ["]d"] = function(problems)
    problems:move(vim.v.count1)
  end,
  ["[d"] = function(problems)
    problems:move(-vim.v.count1)
  end,
  ["<C-W>d"] = function(problems)
    problems:open_float()
  end,
  ["<C-W><C-D>"] = function(problems)
    problems:open_float()
  end,
}

---@class claude-code.LspProblems of one proposal
---@field private buf integer
---@field private by_server table<string, vim.Diagnostic[]>
---@field private group integer
local Problems = {}
Problems.__index = Problems

local M = {}

---@param server string
---@return integer namespace
local function namespace_of(server)
  return api.nvim_create_namespace("claude-code.proposal." .. server)
end

---@param buf integer of a proposal
---@return claude-code.LspProblems
function M.new(buf)
  local name = ("claude-code.diff.problems.%d"):format(buf)
  local group = api.nvim_create_augroup(name, { clear = true })
  local problems = setmetatable({ buf = buf, by_server = {}, group = group }, Problems)
  -- In insert mode vim.diagnostic waits for its end, and then looks for what it keeps.
  api.nvim_create_autocmd("InsertLeave", {
    group = group,
    buffer = buf,
    callback = vim.schedule_wrap(function()
      problems:show()
    end),
  })
  for key, run in pairs(KEYS) do
    vim.keymap.set("n", key, function()
      run(problems)
    end, { buffer = buf, desc = "Problems of the proposal" })
  end
  return problems
end

---@param buf integer
---@param position lsp.Position
---@param encoding string
---@return integer lnum, integer col in bytes, both within the text
local function byte_position(buf, position, encoding)
  local last = api.nvim_buf_line_count(buf) - 1
  if position.line > last then
    return last, #api.nvim_buf_get_lines(buf, last, last + 1, false)[1]
  end
  local line = api.nvim_buf_get_lines(buf, position.line, position.line + 1, false)[1]
  if encoding == "utf-16" then
    local col = require("claude-code.editor.columns.utf16").to_byte(line, position.character)
    return position.line, col
  elseif encoding == "utf-32" then
    return position.line, vim.str_byteindex(line, math.min(position.character, #line))
  end
  return position.line, math.min(position.character, #line)
end

---@param item lsp.Diagnostic
---@param buf integer
---@param server string
---@param encoding string
---@return vim.Diagnostic
local function diagnostic(item, buf, server, encoding)
  local lnum, col = byte_position(buf, item.range.start, encoding)
  local end_lnum, end_col = byte_position(buf, item.range["end"], encoding)
  return {
    bufnr = buf,
    namespace = namespace_of(server),
    lnum = lnum,
    col = col,
    end_lnum = end_lnum,
    end_col = end_col,
    severity = item.severity or vim.diagnostic.severity.ERROR,
    message = item.message,
    source = item.source or server,
    code = item.code,
  }
end

---What a server reported last takes the place of what it reported before.
---@param server string
---@param items lsp.Diagnostic[]
---@param encoding string of the columns
function Problems:set(server, items, encoding)
  if not api.nvim_buf_is_loaded(self.buf) then
    return
  end
  self.by_server[server] = vim.tbl_map(function(item)
    return diagnostic(item, self.buf, server, encoding)
  end, items)
  self:show()
end

---@private
function Problems:show()
  if api.nvim_buf_is_loaded(self.buf) then
    for server, items in pairs(self.by_server) do
      vim.diagnostic.show(namespace_of(server), self.buf, vim.list_slice(items))
    end
  end
end

---@return vim.Diagnostic[] in the order of the text
function Problems:list()
  local all = vim.iter(vim.tbl_values(self.by_server)):flatten():totable()
  table.sort(all, function(a, b)
    return a.lnum == b.lnum and a.col < b.col or a.lnum < b.lnum
  end)
  return all
end

---Moves the cursor, around the ends of the text.
---@param count integer
function Problems:move(count)
  local list = self:list()
  if #list == 0 then
    return require("claude-code.messages.notify").info("there is no problem in this proposal")
  end
  local line, col = unpack(api.nvim_win_get_cursor(0))
  local before = #vim.tbl_filter(function(item)
    return item.lnum + 1 < line or (item.lnum + 1 == line and item.col < col)
  end, list)
  local at = list[before + 1]
  local is_on = at ~= nil and at.lnum + 1 == line and at.col == col
  -- Between two, the next one is one step away and so is the one before.
  local step = (count > 0 and not is_on) and count - 1 or count
  local target = list[(before + step) % #list + 1]
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { target.lnum + 1, target.col })
end

---The problems of the cursor's line, in a floating window.
function Problems:open_float()
  local line = api.nvim_win_get_cursor(0)[1] - 1
  local lines = {}
  for _, item in ipairs(self:list()) do
    if item.lnum <= line and line <= item.end_lnum then
      local text = ("%s: %s [%s]"):format(SEVERITY_NAMES[item.severity], item.message, item.source)
      vim.list_extend(lines, vim.split(text, "\n"))
    end
  end
  if #lines == 0 then
    return require("claude-code.messages.notify").info("there is no problem in this line")
  end
  vim.lsp.util.open_floating_preview(lines, "plaintext", { focus_id = "claude-code.problems" })
end

---Shows none of them any more.
function Problems:stop()
  pcall(api.nvim_del_augroup_by_id, self.group)
  if not api.nvim_buf_is_valid(self.buf) then
    return
  end
  for server in pairs(self.by_server) do
    vim.diagnostic.hide(namespace_of(server), self.buf)
  end
  for key in pairs(KEYS) do
    pcall(vim.keymap.del, "n", key, { buffer = self.buf })
  end
end

return M
