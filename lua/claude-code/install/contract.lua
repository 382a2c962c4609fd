--- The report of an executable that is ready (src/commands/serve.ts).
---@class claude-code.ReadyInfo
---@field port integer
---@field lock_file string
---@field uses_next_token? boolean another program took the previous port
---@field problem? string a sentence that says why there is no lock file
---@field cli_arguments claude-code.CliArguments

--- The executable refuses (exit code 3) to serve a plugin with another contract number; the version is for messages.
---@class claude-code.Contract
---@field number integer grows with every incompatible change of the calls between the two
---@field version string the plugin's version, the same as package.json's
return { number = 2, version = "0.1.0" }
