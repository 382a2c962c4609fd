--- SHA-256 of a file, by a program of the system: Neovim's own sha256() would block the editor (and
--- takes no binary data in 0.10).
local M = {}

local async = require("claude-code.install.async")

---@type (fun(path: string): string[])[]
local COMMANDS = {
  function(path)
    return { "sha256sum", path }
  end,
  function(path)
    return { "shasum", "-a", "256", path }
  end,
  function(path)
    return { "certutil", "-hashfile", path, "SHA256" }
  end,
}

local HASH = "%f[%x]" .. ("%x"):rep(64) .. "%f[%X]"

---@param path string absolute
---@return string? sha256 in lower-case hexadecimal
---@return string? message
function M.of(path)
  for _, command in ipairs(COMMANDS) do
    local words = command(path)
    if vim.fn.executable(words[1]) == 1 then
      local result = async.system(words, { cwd = vim.fs.dirname(path) })
      -- The path is printed too.
      local output = result.stdout:gsub(vim.pesc(path), "")
      local hash = output:match(HASH)
      if result.code == 0 and hash then
        return hash:lower()
      end
      return nil, ("`%s` failed on %s: %s"):format(words[1], path, vim.trim(result.stderr))
    end
  end
  return nil,
    "the archive cannot be checked: sha256sum, shasum and certutil are missing; install one of "
      .. "them, then :ClaudeCodeInstall"
end

return M
