--- The one archive that this version of the plugin accepts on this machine: pinned by its size and
--- its SHA-256 in manifest.lua.
local M = {}

local plugin_files = require("claude-code.install.plugin_files")

---@class claude-code.Release
---@field version string
---@field target string
---@field file string name of the archive
---@field url string
---@field sha256 string
---@field size integer in bytes

--- The archive to install here.
---@return claude-code.Release?
---@return string? remedy what the user can do instead, if there is none
---@return string? reason why there is none
function M.find()
  local manifest = plugin_files.manifest()
  if not manifest then
    local reason = "the plugin in %s came together with its executable"
    return nil, "reinstall both as you installed them", reason:format(plugin_files.root())
  end
  local contract, build = plugin_files.contract(), plugin_files.build_command()
  local is_release = next(manifest.targets) ~= nil
    and manifest.version == contract.version
    and manifest.contract == contract.number
  if not is_release then
    local remedy = 'build the executable (%s) or pin a release of the plugin (`version = "*"` in '
      .. "lazy.nvim, or `git checkout` of a tag)"
    local reason = "this checkout (version %s) is not a release"
    return nil, remedy:format(build), reason:format(contract.version)
  end
  local target, machine = require("claude-code.install.target").name()
  local archive = target and manifest.targets[target]
  if not archive then
    local reason = "there is no prebuilt one for %s"
    return nil, ("build the executable (%s)"):format(build), reason:format(machine or target)
  end
  local mirror = require("claude-code.config").get().binary.mirror
  if mirror == false then
    -- Who sets a mirror often must not use another host.
    local reason = "binary.mirror is not an https:// address, and nothing else is used instead"
    return nil, "correct binary.mirror", reason
  end
  if require("claude-code.install.target").needs_nix_ld() then
    local remedy = "enable it (`programs.nix-ld.enable = true`), or build the executable (%s)"
    return nil, remedy:format(build), "on NixOS a downloaded executable runs only with nix-ld"
  end
  local base = (mirror or manifest.releases):gsub("/+$", "")
  return {
    version = manifest.version,
    target = target,
    file = archive.file,
    url = ("%s/v%s/%s"):format(base, manifest.version, archive.file),
    sha256 = archive.sha256,
    size = archive.size,
  }
end

return M
