--- Options of the Claude CLI that Neovim starts, and of its terminal.
local t = require("claude-code.config.options.schema")
local option = t.option

---@type claude-code.Type
local command = {
  expected = "a program's name, or a list with its name and arguments",
  lua = "string|string[]",
  accepts = function(value)
    local words = type(value) == "table" and value or { value }
    return t.list_of(t.string).accepts(words) and (words[1] or "") ~= ""
  end,
}

local permission_mode = t.any_of(
  t.one_of("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"),
  t.one_of(false)
)
local remote_name = t.any_of(t.string, t.one_of(false), t.func("fun(folder: string): string?"))
local position = t.one_of("auto", "right", "left", "bottom", "top", "float")

--- Each module in terminal/providers/ is a provider.
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
local own_provider = {
  expected = "a table with the function open",
  lua = "claude-code.TerminalProvider",
  accepts = function(value)
    return type(value) == "table" and type(value.open) == "function"
  end,
}

local provider = t.any_of(t.one_of(unpack(provider_names())), own_provider)

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
  option("terminal.provider", provider, "native", {
    "Where the CLI runs: |claude-code-terminal-provider|.",
  }),
  option("terminal.keep", t.boolean, false, {
    "Whether a terminal that can outlive Neovim does, for the next Neovim of the project. See |claude-code-keep|.",
  }),
  option("terminal.position", position, "auto", {
    'The side of the editor where the CLI\'s window opens. "auto": the right if that leaves 60 columns for Claude and',
    '50 for the file, otherwise the bottom. "float": a window over the files, which closes when the cursor moves to',
    "one of them.",
  }),
  option("terminal.size", t.number(0.1, 1), nil, {
    "The CLI window's share of the editor's width or height: by default 0.36, for a float 0.8 of both. With",
    '`terminal.position = "auto"` the window also gets at least 60 columns or 12 lines.',
  }),
  option("terminal.winbar", t.boolean, true, {
    "Whether a bar above Claude's window shows the names and states of two or more sessions. Your own 'winbar' stays.",
  }),
  option("terminal.cwd", t.any_of(t.string, t.func("fun(folder: string): string?")), nil, {
    'The folder in which the CLI starts, by default that of the tab page. "root": the root of the git repository',
    "around it. A function receives the tab page's folder.",
  }),
  option("terminal.env", variables, {}, {
    "More environment variables for each Claude CLI that Neovim starts. They cannot replace those with which the CLI",
    "finds this Neovim.",
  }),
  option("terminal.command", command, "claude", {
    "The Claude CLI: a name, or a list with arguments.",
  }),
  option("terminal.mod", t.boolean, true, {
    "Whether the CLI loads the plugin's code (a mod), see |claude-code-mod|. It takes some 50 MB and 0.2 s.",
  }),
  option("terminal.args", t.list_of(t.string), {}, {
    "More arguments for each Claude CLI that Neovim starts.",
  }),
  option("terminal.remote", remote_name, false, {
    "The name of the remote in `remotes` where the CLI runs; false: this machine. A function receives the tab page's",
    "folder, and returns a name or nil.",
  }),
  option("remotes", remotes, {}, {
    "The containers, sandboxes and other machines where Claude may run, by their names. Each is a table, or a",
    "function that receives the tab page's folder and returns the table.",
  }),
  option("terminal.permission_mode", permission_mode, false, {
    "The permission mode in which the CLI starts; false: the mode of the CLI's settings, see |claude-code-two-ways|.",
    '"default" and "plan" show edits as diffs before they are made; after the other modes there is a review. The',
    "argument --permission-mode overrides this option.",
  }),
  option("terminal.keys", t.any_of(t.string, t.one_of(false)), nil, {
    "The keys in Claude's terminal, which Claude does not receive. `false` maps no key.",
    fields = {
      {
        "leave",
        "<C-q>",
        "leaves terminal mode, as <C-\\><C-n> always does; Claude has no use for the default one",
      },
      {
        "transcript",
        "o",
        "in normal mode, shows the whole conversation in place of the terminal, see |claude-code-transcript|",
      },
      { "toggle", false, "hides the terminal" },
    },
  }),
}
