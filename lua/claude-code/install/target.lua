--- Which of a release's archives fits this machine.
local M = {
  --- Only NixOS has it.
  nixos_file = "/etc/NIXOS",
}

local SYSTEMS = { Linux = "linux", Darwin = "darwin" }
local MACHINES = { x86_64 = "x64", amd64 = "x64", aarch64 = "arm64", arm64 = "arm64" }

--- Whether downloaded programs cannot start here: on NixOS they need nix-ld, which sets $NIX_LD.
---@return boolean
function M.needs_nix_ld()
  return vim.uv.fs_stat(M.nixos_file) ~= nil and (vim.env.NIX_LD or "") == ""
end

---@return string? target as a release names it
---@return string? machine what this is, for a message, if there is none for it
function M.name()
  local uname = vim.uv.os_uname()
  local is_termux = vim.env.TERMUX_VERSION ~= nil
  local described = is_termux and "Termux" or uname.sysname .. " on " .. uname.machine
  local system, machine = SYSTEMS[uname.sysname], MACHINES[uname.machine:lower()]
  if vim.fn.has("win32") == 1 then
    -- uname says x64 to a Neovim for x64 on Windows for arm64: those programs run there, too.
    return "windows-" .. (machine or "x64")
  end
  if not system or not machine or is_termux then
    return nil, described
  elseif system == "darwin" then
    return "darwin-" .. machine
  end
  -- The C library that this system's own programs are linked with. Not by the loaders that exist: a system may
  -- have both.
  local shell = require("claude-code.lib.regular_file").head("/bin/sh", 8192) or ""
  return "linux-" .. machine .. (shell:find("/ld-musl-", 1, true) and "-musl" or "")
end

return M
