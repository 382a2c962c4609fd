--- What the Claude CLI needs to find in the environment of terminals started from this Neovim.
local M = {}

local PROXIES =
  { "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" }
local LOOPBACK = { "127.0.0.1", "localhost" }

---@type table<string, { before?: string, after: string }> by the variable's name
local changes = {}

local function set(name, value)
  changes[name] = { before = vim.env[name], after = value }
  vim.env[name] = value
end

local function is_set(name)
  return (vim.env[name] or "") ~= ""
end

--- Adds loopback to a no_proxy list, unless it is exempt already.
local function with_loopback(list)
  local entries = vim.split(list, "[,%s]+", { trimempty = true })
  if vim.tbl_contains(entries, "*") then
    return list
  end
  for _, host in ipairs(LOOPBACK) do
    if not vim.tbl_contains(entries, host) then
      table.insert(entries, host)
    end
  end
  return table.concat(entries, ",")
end

--- A proxy would swallow ws://127.0.0.1. Programs read one of the two spellings and fall back to
--- the other, so a spelling that is unset stays unset while the other is there: it would hide it.
local function exempt_loopback_from_proxy()
  if not vim.iter(PROXIES):any(is_set) then
    return
  end
  local names = vim.tbl_filter(is_set, { "no_proxy", "NO_PROXY" })
  for _, name in ipairs(#names > 0 and names or { "no_proxy", "NO_PROXY" }) do
    local before = vim.env[name] or ""
    local after = with_loopback(before)
    if after ~= before then
      set(name, after)
    end
  end
end

--- Points terminals started from now on to this Neovim.
---@param port integer
function M.apply(port)
  M.restore()
  set("CLAUDE_CODE_SSE_PORT", tostring(port))
  set("ENABLE_IDE_INTEGRATION", "true")
  exempt_loopback_from_proxy()
end

--- What apply() has set, for terminals that do not inherit Neovim's environment.
---@return table<string, string>
function M.applied()
  return vim.tbl_map(function(change)
    return change.after
  end, changes)
end

--- Takes back what apply() did, except where something else has changed it since. In a Neovim
--- inside another Neovim's terminal this brings the outer one's values back.
function M.restore()
  for name, change in pairs(changes) do
    if vim.env[name] == change.after then
      vim.env[name] = change.before
    end
  end
  changes = {}
end

return M
