--- The release for this version of the plugin, written by scripts/release.
---@class claude-code.Manifest
---@field version string
---@field contract integer as in claude-code.contract
---@field releases string URL; archives are at releases/vVERSION/FILE
---@field targets table<string, claude-code.Archive> by target; empty before the release
---@class claude-code.Archive
---@field file string
---@field sha256 string in hexadecimal
---@field size integer in bytes
return {
  version = "0.1.0",
  contract = 1,
  releases = "https://github.com/claude-code-nvim/claude-code.nvim/releases/download",
  targets = {},
}
