--- The plugin's own files, and the archive for this machine, which manifest.lua pins by size and SHA-256. Reads files
--- from the disk, not by require(): a plugin manager may just have replaced the loaded version.
local platform = require("claude-code.lib.platform")

local M = {}

---@class claude-code.Release
---@field version string
---@field target string
---@field file string name of the archive
---@field url string
---@field sha256 string
---@field size integer in bytes

local SYSTEMS = { Linux = "linux", Darwin = "darwin" }
local MACHINES = { x86_64 = "x64", amd64 = "x64", aarch64 = "arm64", arm64 = "arm64" }

---@return string folder of the plugin
function M.root()
  local this = debug.getinfo(1, "S").source:sub(2)
  local root = vim.fn.fnamemodify(this, ":p:h:h:h:h")
  -- Not vim.fs.normalize(): setup() calls this, and vim.fs takes half a millisecond to load.
  return platform.is_windows and (root:gsub("\\", "/")) or root
end

local function read(name)
  local chunk = loadfile(("%s/lua/claude-code/install/%s.lua"):format(M.root(), name))
  return chunk and chunk()
end

---@return claude-code.Contract
function M.contract()
  return read("contract") or require("claude-code.install.contract")
end

---@return claude-code.Manifest? nil in release archives, which contain both plugin and executable
function M.manifest()
  return read("manifest")
end

---@return string path of an executable built from these files
function M.build_path()
  return M.root() .. "/dist/" .. require("claude-code.install.executable").NAME
end

---@return string commands that build it
function M.build_command()
  return ("`cd %s && bun install --production && bun run build`"):format(
    vim.fn.shellescape(M.root())
  )
end

---@return string? target of a release for this machine
---@return string? machine its kind, for a message without a target
function M.target()
  local uname = platform.uname()
  local is_termux = vim.env.TERMUX_VERSION ~= nil
  local described = is_termux and "Termux" or uname.sysname .. " on " .. uname.machine
  local system, machine = SYSTEMS[uname.sysname], MACHINES[uname.machine:lower()]
  if platform.is_windows then
    -- A Neovim for x64 sees x64 on arm64, which can run such programs.
    return "windows-" .. (machine or "x64")
  end
  if not system or not machine or is_termux then
    return nil, described
  elseif system == "darwin" then
    return "darwin-" .. machine
  end
  -- A system may have the loaders of both C libraries, but its /bin/sh uses one.
  local shell = require("claude-code.lib.regular_file").head("/bin/sh", 8192) or ""
  return "linux-" .. machine .. (shell:find("/ld-musl-", 1, true) and "-musl" or "")
end

--- The archive to install here.
---@return claude-code.Release?, string? remedy without a release
---@return string? reason without a release
function M.find()
  local manifest = M.manifest()
  if not manifest then
    local reason = ("the plugin in %s was installed together with its executable"):format(M.root())
    return nil, "reinstall both in the same way", reason
  end
  local contract, build = M.contract(), ("build the executable (%s)"):format(M.build_command())
  local is_release = next(manifest.targets) ~= nil
    and manifest.version == contract.version
    and manifest.contract == contract.number
  if not is_release then
    local pin = '`version = "*"` in lazy.nvim, or `git checkout` of a tag'
    local reason = ("this checkout (version %s) is not a release"):format(contract.version)
    return nil, ("%s or pin a release of the plugin (%s)"):format(build, pin), reason
  end
  local target, machine = M.target()
  local archive = target and manifest.targets[target]
  if not archive then
    return nil, build, "there is no prebuilt one for " .. (machine or target)
  end
  local mirror = require("claude-code.config").get().binary.mirror
  if mirror == false then
    -- A user with a mirror may not be allowed to use another host.
    local reason = "binary.mirror is not an https:// address, and nothing replaces it"
    return nil, "correct binary.mirror", reason
  end
  local base = (mirror or manifest.releases):gsub("/+$", "")
  local url = ("%s/v%s/%s"):format(base, manifest.version, archive.file)
  local more = { version = manifest.version, target = target, url = url }
  return vim.tbl_extend("error", archive, more)
end

return M
