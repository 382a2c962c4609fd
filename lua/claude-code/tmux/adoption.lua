--- Panes that outlive the Neovim which opened them (`terminal.keep`). The port and the token of their
--- CLI are in an option of the pane itself, never in a file: so they go with the pane, whoever is there
--- at its end, and who can read them could type into the pane as well.
local tag = require("claude-code.tmux.tag")
local tmux = require("claude-code.tmux")

local M = {}

local OPTION = "@claude_code_nvim"

--- A CLI that has lost its Neovim tries the port and the token again for 17 s (measured with 2.1.330).
--- Later both are worth nothing, and are not used again.
local RETRY_S = 20

---@class claude-code.LeftPane
---@field pane string its id
---@field tag claude-code.PaneTag

---@class claude-code.LeftEndpoint
---@field port integer
---@field token string

--- What this Neovim has taken and nobody has asked for yet: panes of which there is no session, and where
--- their CLIs look for their Neovim.
---@type { panes: claude-code.LeftPane[], endpoint?: claude-code.LeftEndpoint }
local taken = { panes = {} }

---@return boolean do panes outlive this Neovim?
function M.is_on()
  local options = require("claude-code.config").get().terminal
  return options.provider == "tmux" and options.keep and tmux.is_around()
end

---@param pane string
---@return string command
local function set_option(pane, text)
  return ('set-option -p -t %s %s "%s"'):format(pane, OPTION, text)
end

--- Tags a pane as one of this Neovim's.
---@param pane string
---@param fields table of claude-code.PaneTag
---@return true? tagged
---@return string? message
function M.tag(pane, fields)
  local text = tag.encode(vim.tbl_extend("force", fields, { neovim = tag.of_process() }))
  local output, message = tmux.run_private(set_option(pane, text))
  return output and true, message
end

--- Several Neovims may start at once: the tag is replaced only if it is still the one that was read.
---@param pane string
---@param text string the tag that was read
---@param found claude-code.PaneTag
---@return boolean taken
local function take(pane, text, found)
  local own = tag.encode(vim.tbl_extend("force", found, { neovim = tag.of_process() }))
  local command = "if-shell -F -t %s '#{==:#{%s},%s}' { %s ; display-message -p taken }"
  local set = set_option(pane, own)
  return tmux.run_private(command:format(pane, OPTION, text, set)) == "taken"
end

--- Is it a pane of the workspace whose Neovim is gone, and does the CLI of then run in it?
---@param found claude-code.PaneTag
---@param pid integer of what runs in the pane now
local function is_left(found, pid)
  return found.program.pid == pid
    and tag.runs(found.program)
    and not tag.runs(found.neovim)
    and require("claude-code.sessions.worktrees").is_covered(found.cwd)
end

---@param found claude-code.PaneTag
local function remember_endpoint(found)
  -- The clock may have been set back in between.
  local may_retry = not found.ended or math.abs(os.time() - found.ended) <= RETRY_S
  if found.port and found.token and may_retry then
    taken.endpoint = { port = found.port, token = found.token }
  end
end

--- Takes what dead Neovims have left in this tmux.
local function take_all()
  local format = "#{pane_id} #{pane_pid} #{pane_dead} #{" .. OPTION .. "}"
  local output = M.is_on() and tmux.run({ "list-panes", "-a", "-F", format }) or ""
  local seen = {}
  for line in vim.gsplit(output, "\n") do
    local pane, pid, text = line:match("^(%%%d+) (%d+) 0 (%S+)$")
    local found = pane and not seen[pane] and tag.decode(text)
    -- A window may be in several sessions of tmux.
    seen[pane or ""] = true
    if found and is_left(found, tonumber(pid)) and take(pane, text, found) then
      table.insert(taken.panes, { pane = pane, tag = found })
      remember_endpoint(found)
    end
  end
end

--- The panes that dead Neovims of the workspace have left; each is returned once.
---@return claude-code.LeftPane[]
function M.take()
  take_all()
  local result = taken.panes
  taken.panes = {}
  return result
end

--- The place where the CLIs in those panes look for their Neovim; only one can be served. It is returned
--- once.
---@return claude-code.LeftEndpoint? nil: none of them looks for it any more
function M.endpoint()
  take_all()
  local result = taken.endpoint
  taken.endpoint = nil
  return result
end

return M
