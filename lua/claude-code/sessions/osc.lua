--- The reports of CLIs to their terminals: OSC 7501, the Program Status Protocol (revision 0.4). Claude Code asks
--- whether its terminal knows the protocol since 2.1.295, and reports after a timely answer (measured with 2.1.330 in
--- Neovim 0.10.4 and 0.12.4). Untrusted reports change only a row.
local rows = require("claude-code.sessions.rows")
local sources = require("claude-code.sessions.sources")

local M = {}

local PREFIX = "\27]7501;"
--- The protocol's limits for a sequence and for a message, in bytes.
local MAX_BYTES, MAX_MESSAGE = 4096, 2048
--- In characters.
local MAX_SHOWN = 200

local STATES = { idle = true, working = true, blocked = true, done = true, error = true }
local KINDS = { permission = true, question = true, auth = true }

---@param body string "state=working:app=claude-code:msg=UmVhZGluZw=="
---@return table<string, string>? fields nil if one is truncated
local function pairs_of(body)
  local result = {}
  for _, part in ipairs(vim.split(body, ":", { plain = true })) do
    local name, value = part:match("^(%l+)=(.*)$")
    if not name then
      return nil
    end
    result[name] = value
  end
  return result
end

local function message(encoded)
  local ok, decoded = pcall(vim.base64.decode, encoded or "")
  return ok and require("claude-code.lib.text").one_line(decoded:sub(1, MAX_MESSAGE), MAX_SHOWN)
    or nil
end

--- A report with an `id` describes only a part of the program. A report without the program's name is truncated.
--- TODO(0.10): it splits a sequence that arrives in two reads.
---@return claude-code.StateReport?, boolean? is_truncated
local function parse(body)
  local fields = pairs_of(body)
  if not fields then
    return nil, true
  elseif fields.id then
    return nil
  elseif fields.state == "clear" then
    return {}
  elseif not STATES[fields.state] or fields.app ~= "claude-code" then
    return nil, true
  end
  local kind = fields.state == "blocked" and KINDS[fields.kind] and fields.kind or nil
  return { state = fields.state, kind = kind, msg = message(fields.msg) }
end

local function sequence_of(event)
  local data = event.data
  -- TODO(0.10): `data` is the sequence itself.
  return type(data) == "table" and data.sequence or tostring(data)
end

---Answers the CLIs in the terminals of this Neovim's sessions, and applies their reports.
function M.follow()
  local group = require("claude-code.lib.autocommands").new("sessions.osc")
  group:on("TermRequest", function(buf, event)
    local sequence = sequence_of(event)
    local row = vim.startswith(sequence, PREFIX) and rows.get({ buf = buf })
    if not row or not row.n then
      return
    end
    local body = sequence:sub(#PREFIX + 1)
    if body == "?" then
      pcall(vim.api.nvim_chan_send, vim.bo[buf].channel, PREFIX .. "?\27\\")
      return
    end
    local report, is_truncated
    if #sequence <= MAX_BYTES then
      report, is_truncated = parse(body)
    end
    if report then
      rows.report(row.n, "terminal", report)
    elseif is_truncated then
      rows.set(row.n, { source = vim.NIL })
      if row.pid then
        -- The CLI's file has the state as well.
        sources.apply(row.pid)
      end
    end
  end)
end

return M
