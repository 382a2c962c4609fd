--- The report of an executable that is ready (src/commands/serve.ts).
---@class claude-code.ReadyInfo
---@field port integer
---@field lock_file string
---@field uses_next_token? boolean another program took the previous port
---@field problem? string why the lock file is missing
---@field plugin? string folder of the plugin for Claude Code
---@field plugin_without_mod? string another one, for the option `terminal.mod`
---@field plugin_problem? string why it is missing
---@field no_mod? string why no mod can connect here

--- The executable refuses (exit code 3) to serve a plugin with another number.
---@class claude-code.Contract
---@field number integer increases with every incompatible change of the calls between the two
---@field version string the plugin's, as in package.json
return { number = 2, version = "0.1.0" }
