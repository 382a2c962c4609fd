-- The plugin's facts about itself, as JSON on stdout: run by scripts/docs.ts in a bare Neovim.
local subcommands = {}
for name, subcommand in pairs(require("claude-code.commands").list) do
  table.insert(subcommands, {
    name = name,
    args = subcommand.args,
    bang = subcommand.bang or false,
    range = subcommand.range,
  })
end

for name in pairs(require("claude-code.commands").CODERS) do
  vim.api.nvim_exec_autocmds("CmdUndefined", { pattern = name })
end

local commands = {}
for name, command in pairs(vim.api.nvim_get_commands({})) do
  if vim.startswith(name, "Claude") and name ~= "Claude" then
    table.insert(commands, { name = name, desc = command.definition })
  end
end

local plugs = {}
for _, mode in ipairs({ "n", "x", "t" }) do
  for _, mapping in ipairs(vim.api.nvim_get_keymap(mode)) do
    local name = mapping.lhs:match("^<Plug>%((claude[%l-]*)%)$")
    if name then
      plugs[name] = plugs[name] or { modes = "", desc = mapping.desc }
      plugs[name].modes = plugs[name].modes .. mode
    end
  end
end

---@return string? nil without a default
local function shown(default)
  return default ~= nil and vim.inspect(default, { newline = " ", indent = "" }) or nil
end

local options = {}
for _, option in ipairs(require("claude-code.config").options()) do
  table.insert(options, {
    key = option.key,
    annotation = option.type.lua,
    expected = option.type.expected,
    default = shown(option.default),
    description = option.description,
    fields = option.fields and vim.tbl_map(function(field)
      return { name = field[1], default = shown(field[2]), effect = field[3] }
    end, option.fields),
  })
end

---@param section string
---@return table[]
local function highlights_of(section)
  return vim.tbl_map(function(group)
    return { name = group[1], link = group[2], description = group[3] }
  end, require("claude-code.lib.highlights").groups[section])
end

io.write(vim.json.encode({
  subcommands = subcommands,
  commands = commands,
  plugs = plugs,
  suggested = require("claude-code.keymaps").suggested,
  options = options,
  private_files = require("claude-code.editor.privacy.defaults"),
  highlights = highlights_of("changes"),
  review_highlights = highlights_of("comments"),
  session_highlights = highlights_of("sessions"),
  transcript_highlights = highlights_of("transcript"),
}))
