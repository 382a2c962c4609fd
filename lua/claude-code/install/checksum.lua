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
  local reasons = {}
  for _, command in ipairs(COMMANDS) do
    local words = command(path)
    local program, reason = require("claude-code.programs").on_path(words[1])
    if program then
      words[1] = program
      local result = async.system(words, { cwd = vim.fs.dirname(path) })
      -- The path is printed too.
      local output = result.stdout:gsub(vim.pesc(path), "")
      local hash = output:match(HASH)
      if result.code == 0 and hash then
        return hash:lower()
      end
      return nil, ("`%s` failed on %s: %s"):format(program, path, vim.trim(result.stderr))
    end
    table.insert(reasons, reason)
  end
  local text = "the archive cannot be checked: sha256sum, shasum and certutil are missing (%s); "
    .. "install one of them, then :Claude install"
  return nil, text:format(table.concat(reasons, "; "))
end

return M
