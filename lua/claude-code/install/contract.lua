--- What the executable hands over once it is ready (src/commands/serve.ts).
---@class claude-code.ReadyInfo
---@field port integer
---@field lock_file string
---@field uses_next_token? boolean another program has the port of before
---@field problem? string why there is no lock file, in a sentence
---@field cli_arguments claude-code.CliArguments

--- What this plugin and the executable must agree on. The executable refuses (exit code 3) to
--- serve a plugin with another contract number; the version is for messages.
---@class claude-code.Contract
---@field number integer grows with every incompatible change of the calls between the two
---@field version string the plugin's version, the same as package.json's
return { number = 2, version = "0.1.0" }
