--- Options of the Claude CLI that Neovim starts, and of its terminal.
local t = require("claude-code.config.options.schema")

---@type claude-code.Type
local command = {
  expected = "a program's name, or a list of it and its arguments",
  lua = "string|string[]",
  accepts = function(value)
    local name = value
    if type(value) == "table" and t.list_of(t.string).accepts(value) then
      name = value[1]
    end
    return type(name) == "string" and name ~= ""
  end,
}

local permission_mode =
  t.one_of("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions")

--- Every module in terminal/providers/ is one.
local function provider_names()
  local this = vim.fs.normalize(debug.getinfo(1, "S").source:sub(2))
  local names = {}
  for file in vim.fs.dir(vim.fs.dirname(this) .. "/../../terminal/providers") do
    table.insert(names, (file:gsub("%.lua$", "")))
  end
  table.sort(names)
  return names
end

---@type claude-code.Type
local provider = {
  expected = "a table with the function open",
  lua = "claude-code.TerminalProvider",
  accepts = function(value)
    return type(value) == "table" and type(value.open) == "function"
  end,
}

---@type claude-code.Type
local variables = {
  expected = 'a table of variables such as { NAME = "value" }',
  lua = "table<string, string>",
  accepts = function(value)
    return type(value) == "table"
      and vim.iter(pairs(value)):all(function(name, text)
        return type(name) == "string" and type(text) == "string"
      end)
  end,
}

---@type claude-code.Type
local remotes = {
  expected = "a table of remotes, see |claude-code-remotes|",
  lua = "table<string, claude-code.Remote|fun(folder: string): claude-code.Remote>",
  accepts = function(value)
    for name, remote in pairs(type(value) == "table" and value or {}) do
      local problem = type(remote) ~= "function"
        and require("claude-code.config.options.remote").problem(remote)
      if type(name) ~= "string" or problem then
        return false, ("remotes.%s%s"):format(name, problem)
      end
    end
    return type(value) == "table"
  end,
}

---@type claude-code.Option[]
return {
  {
    key = "terminal.provider",
    type = t.any_of(t.one_of(unpack(provider_names())), provider),
    default = "native",
    description = "Where the CLI runs: |claude-code-terminal-provider|.",
  },
  {
    key = "terminal.keep",
    type = t.boolean,
    default = false,
    description = "A terminal that can outlive Neovim does, and the next Neovim of the project shows it. See "
      .. "|claude-code-keep|.",
  },
  {
    key = "terminal.position",
    type = t.one_of("auto", "right", "left", "bottom", "top", "float"),
    default = "auto",
    description = 'The side of the editor where the CLI\'s window opens. "auto": at the right if that '
      .. 'leaves 60 columns for Claude and 50 for the file, otherwise at the bottom. "float": a '
      .. "window over the files, which closes when the cursor goes to one of them.",
  },
  {
    key = "terminal.size",
    type = t.number(0.1, 1),
    description = "The CLI window's share of the editor's width or height: by default 0.36, for a float 0.8 of "
      .. 'both. With `terminal.position = "auto"` the window also gets at least 60 columns or 12 lines.',
  },
  {
    key = "terminal.winbar",
    type = t.boolean,
    default = true,
    description = "Show the names and states of the sessions above Claude's window, from two sessions "
      .. "on. A 'winbar' of your own stays.",
  },
  {
    key = "terminal.cwd",
    type = t.any_of(t.string, t.func("fun(folder: string): string?")),
    description = 'The folder in which the CLI starts. By default that of the tab page. "root": the '
      .. "root of the git repository around it. A function receives the folder of the tab page.",
  },
  {
    key = "terminal.env",
    type = variables,
    default = {},
    description = "More environment variables for each Claude CLI that Neovim starts. Those with which "
      .. "the CLI finds this Neovim cannot be changed.",
  },
  {
    key = "terminal.command",
    type = command,
    default = "claude",
    description = "The Claude CLI: a name, or a list with arguments.",
  },
  {
    key = "terminal.args",
    type = t.list_of(t.string),
    default = {},
    description = "More arguments for each Claude CLI that Neovim starts.",
  },
  {
    key = "terminal.remote",
    type = t.any_of(t.string, t.one_of(false), t.func("fun(folder: string): string?")),
    default = false,
    description = "The name of the remote in `remotes` where the CLI runs. With false it runs on this machine. A "
      .. "function receives the folder of the tab page, and returns a name or nil.",
  },
  {
    key = "remotes",
    type = remotes,
    default = {},
    description = "The containers, sandboxes and other machines where Claude may run, by their names. "
      .. "Each is a table, or a function that receives the folder of the tab page and returns "
      .. "one.",
  },
  {
    key = "terminal.permission_mode",
    type = t.any_of(permission_mode, t.one_of(false)),
    default = false,
    description = "The permission mode in which the CLI starts. With false it is that of the CLI's "
      .. 'settings, see |claude-code-two-ways|. "default" and "plan" show edits as diffs '
      .. "before they are made; after the others there is a review. The argument "
      .. "--permission-mode overrides this option.",
  },
  {
    key = "terminal.keys",
    type = t.any_of(t.string, t.one_of(false)),
    description = "The keys in Claude's terminal, which Claude does not receive. `false` maps no key.",
    fields = {
      {
        "leave",
        "<C-q>",
        "leaves terminal mode, as <C-\\><C-n> always does; Claude has no use for the default one",
      },
      {
        "transcript",
        "o",
        "in normal mode, shows the whole conversation in the terminal's place, see |claude-code-transcript|",
      },
      { "toggle", false, "hides the terminal" },
    },
  },
}
