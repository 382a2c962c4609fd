--- Neovim as the Claude CLI's editor. Modules load when they are first needed.
local M = {}

--- Other plugins have loaded by then, in ms.
local OTHER_PLUGINS_MS = 1000

local function set_keymaps(enabled)
  require("claude-code.keymaps")[enabled and "set" or "remove"]()
end

local function set_auto_install(enabled)
  require("claude-code.project").set_auto_install(enabled)
end

--- Sets the options. Starts the server once Neovim is up, unless auto_start forbids it. Another call
--- replaces all options: see |claude-code-options-again|.
---@param opts? claude-code.UserConfig
function M.setup(opts)
  if vim.fn.has("nvim-0.10") == 0 then
    local text = "claude-code.nvim needs Neovim 0.10 or newer"
    vim.api.nvim_echo({ { text, "ErrorMsg" } }, true, {})
    return
  end
  local config = require("claude-code.config")
  config.on_change("keymaps", set_keymaps)
  config.on_change("mcp.auto_install", set_auto_install)
  config.setup(opts)
  require("claude-code.server.autostart").enable()
  vim.defer_fn(function()
    -- deactivate() may have run.
    if package.loaded["claude-code"] == M then
      require("claude-code.server.other_plugins").report()
    end
  end, OTHER_PLUGINS_MS)
end

--- Starts the server, regardless of auto_start.
function M.start()
  require("claude-code.server").start({ allow_home = true })
end

--- Stops the server until start() or :Claude; setup() does not start it again.
function M.stop()
  require("claude-code.server").stop()
end

--- Ends the server, Claude in its terminals, autocommands and mappings. For plugin managers that
--- reload a plugin, as `:Lazy reload` does.
function M.deactivate()
  local function call(name, method)
    local module = package.loaded["claude-code." .. name]
    if module then
      module[method]()
    end
  end
  call("terminal", "close_all")
  call("sessions.requests", "end_all")
  call("server.autostart", "disable")
  call("editor.review.review", "stop")
  call("server.channel", "close")
  call("server", "stop")
  call("keymaps", "remove")
  for _, group in ipairs(vim.fn.getcompletion("claude-code.", "augroup")) do
    vim.api.nvim_del_augroup_by_name(group)
  end
  for name in pairs(package.loaded) do
    if name:find("^claude%-code$") or name:find("^claude%-code%.") then
      package.loaded[name] = nil
    end
  end
  vim.g.loaded_claude_code = nil
end

--- Installs the executable, and raises an error if that fails. For build steps:
--- `build = function() require("claude-code").install() end`.
---@param archive? string path of a local archive; otherwise it is downloaded
function M.install(archive)
  local executable, message = require("claude-code.install").wait({ archive = archive })
  if not executable then
    error("claude-code.nvim: " .. message, 0)
  end
end

--- Returns the state of the server and its clients.
---@return claude-code.Status
function M.status()
  return require("claude-code.health").get()
end

--- Returns the Claude sessions of this Neovim, which have a number `n`, and, while the server runs,
--- other sessions in its workspace: a list of tables with `n`, `id`, `name`, `cwd`, `worktree`,
--- `branch`, `where` ("here", "background", "outside", "neovim", or a word of a
--- |claude-code-terminal-provider|), `pid`, `buf`, `state` ("idle", "working", "blocked", "done",
--- "error"; nil if it is unknown), `kind` of a blocked session's question ("permission", "question",
--- "auth"), `msg`, `since` in ms since 1970, and `source` of the state. See
--- |ClaudeCodeSessionChanged|.
---@return claude-code.SessionRow[]
function M.sessions()
  return require("claude-code.sessions").all()
end

--- Sends files and lines to Claude's prompt, as `:Claude mention` does. {items} is a path, or
--- `{ path = "src/a.lua", first = 3, last = 5 }` for lines of a file, or a list of these. Lines count
--- from 1, and `last` defaults to `first`. Returns true, or false and why Claude does not receive all
--- items. Shows no error.
---@param items claude-code.MentionItem|claude-code.MentionItem[]
---@return boolean ok
---@return string? problem
function M.mention(items)
  return require("claude-code.context.mention").items(items)
end

--- Returns a short text for the status line: "no Claude", "Claude working, 2 edits wait". Redraws the
--- status line when the text changes.
---@return string
function M.statusline()
  local statusline = require("claude-code.statusline")
  statusline.redraw_on_change()
  return statusline.text()
end

return M
