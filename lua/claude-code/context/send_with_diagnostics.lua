--- :ClaudeSendWithDiagnostics: code and what language servers say of it, as one message to Claude.
local M = {}

local notify = require("claude-code.messages.notify")

---@param buf integer
---@return string path relative to the workspace where the file lies in it
local function shown_path(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return name == "" and "[No Name]" or vim.fn.fnamemodify(name, ":.")
end

---@param buf integer
---@param first integer 1-based
---@param last integer 1-based
---@return string[]
local function diagnostic_lines(buf, first, last)
  local lines = {}
  for _, item in ipairs(vim.diagnostic.get(buf)) do
    if item.lnum + 1 >= first and item.lnum + 1 <= last then
      local severity = vim.diagnostic.severity[item.severity]
      local text = item.message:gsub("%s*\n%s*", " ")
      local line = ("- Line %d, Col %d [%s]: %s"):format(
        item.lnum + 1,
        item.col + 1,
        severity,
        text
      )
      table.insert(lines, line)
    end
  end
  return #lines > 0 and lines or { "No diagnostics in selected range" }
end

---@param text string
---@return string fence longer than any in the text
local function fence_for(text)
  local longest = 2
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  return ("`"):rep(longest + 1)
end

--- The message of spec 04, section 3.2.
---@param buf integer
---@param first integer 1-based
---@param last integer 1-based, included
---@return string
function M.message(buf, first, last)
  local code = table.concat(vim.api.nvim_buf_get_lines(buf, first - 1, last, false), "\n")
  local fence = fence_for(code)
  return table.concat({
    "I have a code snippet with LSP diagnostics that need to be fixed:",
    "",
    "File: " .. shown_path(buf),
    ("Lines: %d-%d"):format(first, last),
    "",
    fence .. vim.bo[buf].filetype,
    code,
    fence,
    "",
    "LSP Diagnostics:",
    table.concat(diagnostic_lines(buf, first, last), "\n"),
    "",
    "Please help me fix these issues.",
  }, "\n")
end

---@param text string
---@return string place where it can be fetched from
local function put_aside(text)
  if vim.fn.has("clipboard") == 1 then
    local ok = pcall(vim.fn.setreg, "+", text)
    if ok and vim.fn.getreg("+") == text then
      return "the clipboard: paste it into Claude's prompt"
    end
  end
  local folder = vim.fn.stdpath("cache") --[[@as string]]
  vim.fn.mkdir(folder, "p")
  local path = vim.fs.joinpath(folder, "claude-code-message.md")
  vim.fn.writefile(vim.split(text, "\n"), path)
  return ("%s: mention it in Claude's prompt as @%s"):format(path, path)
end

--- A CLI outside gets the lines as a mention; what is wrong with them has no way there but a person.
---@param buf integer
---@param first integer
---@param last integer
---@param text string
local function send_outside(buf, first, last, text)
  local name = require("claude-code.editor.documents.path").of_buffer(buf)
  local connected = #require("claude-code.server").clients > 0
  if name and connected then
    local target = { path = name, line_start = first - 1, line_end = last - 1 }
    require("claude-code.context.mention").add({ target })
  end
  local done = connected and "Claude runs outside of Neovim: it got a mention of the lines; "
    or "no Claude is connected; "
  notify.info(done .. "the whole message is in " .. put_aside(text))
end

---@param args { line1: integer, line2: integer }
function M.with_diagnostics(args)
  local buf = vim.api.nvim_get_current_buf()
  local privacy = require("claude-code.editor.privacy")
  local name = vim.api.nvim_buf_get_name(buf)
  if privacy.is_private(name) then
    notify.warn(privacy.refusal(name))
    return
  end
  local text = M.message(buf, args.line1, args.line2)
  local submit = require("claude-code.config").get().send.submit
  if not require("claude-code.terminal.prompt").paste(text, submit) then
    send_outside(buf, args.line1, args.line2, text)
  end
end

return M
