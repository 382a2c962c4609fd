--- What is run in the terminal so that Claude starts in a remote.
local M = {}

---@param word string
---@return string for sh
local function quoted(word)
  return "'" .. word:gsub("'", [['\'']]) .. "'"
end

--- The variables of a Claude there. What leads to this Neovim on its own machine does not: a sandbox that
--- inherits our environment would find it.
---@param name string the remote's
---@param n? integer number of the session
---@return string[] words `NAME=value`
local function variables(name, n)
  local report = require("claude-code.remote").report(name)
  local options = require("claude-code.config").get().terminal
  local env = vim.tbl_extend("force", { TERM = "xterm-256color" }, options.env, {
    NVIM = "",
    CLAUDE_CODE_SSE_PORT = report.state == "up" and tostring(report.port) or "",
    CLAUDE_CODE_NVIM_SESSION = n and tostring(n) or "",
    ENABLE_IDE_INTEGRATION = "true",
    NO_PROXY = report.no_proxy,
    no_proxy = report.no_proxy,
  })
  local words = {}
  for key, value in vim.spairs(env) do
    words[#words + 1] = key .. "=" .. value
  end
  return words
end

--- The remote's command with its placeholders replaced. A word that is one becomes as many words as it stands
--- for; in a longer word, which a shell there reads, they are quoted.
---@param place claude-code.RemotePlace
---@param arguments string[] for the CLI
---@param n? integer number of the session
---@return string[]
function M.fill(place, arguments, n)
  local values = { ["{args}"] = arguments, ["{env}"] = variables(place.name, n) }
  local command = {}
  for _, word in ipairs(place.command) do
    if values[word] then
      vim.list_extend(command, values[word])
    else
      command[#command + 1] = word:gsub("{%l+}", function(placeholder)
        local words = values[placeholder]
        return words and table.concat(vim.tbl_map(quoted, words), " ")
      end)
    end
  end
  return command
end

return M
