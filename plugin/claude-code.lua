if vim.g.loaded_claude_code then
  return
end
vim.g.loaded_claude_code = true

local api = vim.api

--- Makes a command. Nothing is loaded, and nothing started, until one is used or setup() is called.
---@param subcommand? string that it always runs
---@param options? vim.api.keyset.user_command
local function define(command, subcommand, options)
  api.nvim_create_user_command(command, function(args)
    local commands = require("claude-code.commands")
    if commands.run then
      return commands.run(subcommand, args)
    end
    -- Another plugin comes first in 'runtimepath', and its module was found.
    require("claude-code.server.other_plugins").report()
  end, {
    desc = subcommand and vim.trim("Claude Code: as :Claude " .. subcommand)
      or "Claude Code, its CLI and the review",
    nargs = "*",
    bang = true,
    range = (options or {}).range or true,
    addr = (options or {}).addr,
    complete = function(...)
      return require("claude-code.commands").complete(subcommand, ...)
    end,
  })
end

define("Claude")
-- The number of a session, which need not be that of a line.
define("ClaudeCode", "", { range = 0, addr = "other" })

for command, subcommand in pairs({
  ClaudeAtMention = "mention",
  ClaudeInstallMCP = "setup",
  ClaudeSendWithDiagnostics = "diagnostics",
}) do
  define(command, subcommand)
end

-- Commands of coder/claudecode.nvim exist once they are typed, or mapped; so <Tab> does not offer them.
api.nvim_create_autocmd("CmdUndefined", {
  group = api.nvim_create_augroup("claude-code.commands", { clear = true }),
  pattern = "ClaudeCode*",
  callback = function(event)
    local runs = (require("claude-code.commands").CODERS or {})[event.match]
    if type(runs) == "string" then
      define(event.match, runs)
    elseif runs then
      api.nvim_create_user_command(event.match, function()
        require("claude-code")[runs.call]()
      end, { desc = ('require("claude-code").%s()'):format(runs.call), bar = true })
    end
  end,
})

--- <Plug>(claude-diff-accept) does what `:Claude diff accept` does.
---@param modes string|string[]
---@param action string with the subcommand in place of %s
local function plugs(modes, subcommands, action)
  for _, name in ipairs(subcommands) do
    local plug = vim.trim("claude " .. name):gsub("[ -]+", "-")
    local desc = vim.trim("Claude Code: " .. name)
    vim.keymap.set(modes, ("<Plug>(%s)"):format(plug), action:format(name), { desc = desc })
  end
end

-- stylua: ignore
plugs("n", {
  "--continue", "--resume", "focus", "close", "model", "new", "sessions", "next",
  "transcript", "trail", "follow", "prompt", "ask", "run", "mention", "diagnostics",
  "diff", "diff accept", "diff reject", "diff reject-all", "diff accept-hunk", "diff drop-hunk", "diff merge",
  "review", "review pick", "review alike", "review close", "review done", "commit", "commit message",
  "keep", "keep turn", "undo", "undo turn", "restore", "back", "why", "comment",
  "worktree", "worktree show", "worktree home", "worktree remove",
  "go-on", "status", "log", "install", "setup", "unsetup",
}, "<Cmd>Claude %s<CR>")
-- A count is the number of a session.
plugs("n", { "", "answer" }, "<Cmd>execute 'Claude %s' v:count ? v:count : ''<CR>")
plugs("n", { "send" }, "<Cmd>execute 'Claude %s' v:count ? '--to ' .. v:count : ''<CR>")
plugs("x", { "send" }, '<Cmd>lua require("claude-code.context.send").selection()<CR>')
plugs({ "x", "t" }, { "" }, "<Cmd>Claude %s<CR>")
plugs("t", { "next", "answer", "sessions" }, "<Cmd>Claude %s<CR>")
plugs("x", { "focus", "mention" }, "<Cmd>Claude %s<CR>")
plugs("x", { "prompt", "ask", "diagnostics", "comment", "keep", "undo" }, ":Claude %s<CR>")

local buffers = api.nvim_create_augroup("claude-code.buffers", { clear = true })

---@param buf integer one that Neovim has emptied, as by `:edit!`, is filled again
---@return boolean is_known it is in use; else it is from a session file (:mksession)
local function refill(buf)
  local owners = { "editor.diff", "editor.prompt", "editor.transcript", "permissions.plan" }
  return vim.iter(owners):any(function(name)
    local owner = package.loaded["claude-code." .. name]
    return owner ~= nil and owner.refill(buf)
  end)
end

local function discard(buf)
  vim.schedule(function()
    pcall(api.nvim_buf_delete, buf, { force = true })
  end)
end

-- Our buffers that Neovim reads by their names. Claude's terminal in a session file starts nothing: once the file is
-- read its window closes. With "localoptions" the session sets 'buftype' to "terminal", which no other buffer can be.
api.nvim_create_autocmd("BufReadCmd", {
  group = buffers,
  pattern = "claude-code://*",
  callback = function(event)
    if vim.startswith(event.match, "claude-code://base/") then
      require("claude-code.editor.review.review").load_base(event.buf)
    elseif vim.startswith(event.match, "claude-code://terminal") then
      vim.cmd(
        "setlocal noswapfile nobuflisted bufhidden=wipe | noautocmd call nvim_open_term(0, {})"
      )
      discard(event.buf)
    else
      refill(event.buf)
    end
  end,
})

-- Another one in a session file is an empty buffer that has its name, and a file of a review has the review's bar
-- where 'sessionoptions' has "localoptions". The bar begins with MARK of editor/review/bar.lua; a review that is open
-- sees to its own.
api.nvim_create_autocmd("SessionLoadPost", {
  group = buffers,
  callback = function(event)
    local is_ours = event.match:find("^claude%-code://") and not event.match:find("//terminal")
    local review = package.loaded["claude-code.editor.review"]
    local is_reviewing = review and review.is_open()
    local is_left = is_ours and not vim.b[event.buf].claude_code_file and not refill(event.buf)
    for _, win in ipairs(vim.fn.win_findbuf(event.buf)) do
      local has_bar = not is_reviewing and vim.startswith(vim.wo[win].winbar, "%(%)")
      if is_left or has_bar then
        vim.fn.win_execute(win, "diffoff | setlocal winbar=")
      end
    end
    if is_left then
      discard(event.buf)
    end
  end,
})

api.nvim_create_autocmd("VimLeavePre", {
  group = api.nvim_create_augroup("claude-code.diff.exit", { clear = true }),
  callback = function()
    local diff = package.loaded["claude-code.editor.diff"]
    if diff then
      diff.exit()
    end
  end,
})
