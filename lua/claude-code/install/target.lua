--- Which of a release's archives fits this machine.
local M = {
  --- Only NixOS has it.
  nixos_file = "/etc/NIXOS",
}

local SYSTEMS = { Linux = "linux", Darwin = "darwin" }
local MACHINES = { x86_64 = "x64", amd64 = "x64", aarch64 = "arm64", arm64 = "arm64" }

--- The C library that this system's own programs are linked with, found in the head of /bin/sh.
--- Not by the loaders that exist: a system may have both.
---@return "glibc"|"musl"|nil
local function libc()
  local file = io.open("/bin/sh", "rb")
  local head = file and file:read(8192) or ""
  if file then
    file:close()
  end
  if head:find("/ld-musl-", 1, true) then
    return "musl"
  elseif head:find("/ld-linux", 1, true) then
    return "glibc"
  end
  -- A shell that is linked statically does not show it.
  if
    vim.uv.fs_stat("/lib64/ld-linux-x86-64.so.2") or vim.uv.fs_stat("/lib/ld-linux-aarch64.so.1")
  then
    return "glibc"
  end
  return #vim.fn.glob("/lib/ld-musl-*.so.1", true, true) > 0 and "musl" or nil
end

--- Whether downloaded programs cannot start here: on NixOS they need nix-ld, which sets $NIX_LD.
---@return boolean
function M.needs_nix_ld()
  return vim.uv.fs_stat(M.nixos_file) ~= nil and (vim.env.NIX_LD or "") == ""
end

---@return string? target as a release names it
---@return string? machine what this is, for a message, if there is none for it
function M.name()
  local uname = vim.uv.os_uname()
  local described = uname.sysname .. " on " .. uname.machine
  local system, machine = SYSTEMS[uname.sysname], MACHINES[uname.machine:lower()]
  if vim.fn.has("win32") == 1 then
    -- uname says x64 to a Neovim for x64 on Windows for arm64: those programs run there, too.
    return "windows-" .. (machine or "x64")
  end
  if not system or not machine then
    return nil, described
  elseif system == "darwin" then
    return "darwin-" .. machine
  end
  local library = libc()
  if not library then
    return nil, described .. " with neither glibc nor musl"
  end
  return ("linux-%s%s"):format(machine, library == "musl" and "-musl" or "")
end

return M
