--- The keys of a diff, in normal mode on both sides.
local focus = require("claude-code.editor.diff.focus")

local M = {}

---@param session claude-code.Diff
---@param decide fun()
---@return fun()
local function deliberate(session, decide)
  return function()
    if not focus.keys_count(session) then
      -- Still typing for the terminal: wait for a pause.
      focus.postpone_keys(session)
      return
    end
    decide()
  end
end

---While a macro is recorded, q ends that. Being mapped here, the key itself got recorded as well.
local function end_recording()
  local register = vim.fn.reg_recording()
  vim.api.nvim_feedkeys("q", "nx", false)
  vim.fn.setreg(register, (vim.fn.getreg(register):gsub("q$", "")))
end

---@param session claude-code.Diff
---@param decide { accept: fun(), reject: fun() }
function M.attach(session, decide)
  local function map(key, run, desc)
    for _, buf in ipairs({ session.old_buf, session.new_buf }) do
      vim.keymap.set("n", key, run, { buffer = buf, nowait = true, desc = desc })
    end
  end
  local accept, reject = deliberate(session, decide.accept), deliberate(session, decide.reject)
  local function quit()
    if vim.fn.reg_recording() ~= "" then
      end_recording()
    else
      reject()
    end
  end
  map("<CR>", accept, "Accept Claude's proposal")
  map("ZZ", accept, "Accept Claude's proposal")
  map("q", quit, "Reject Claude's proposal")
  map("ZQ", reject, "Reject Claude's proposal")
end

return M
