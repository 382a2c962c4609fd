--- Files that are on another machine alone: private copies of them here, which the executable keeps as they are there
--- (src/remote/mirror.ts). `:edit` brings one, and `:w` writes it there.
local api, uv = vim.api, vim.uv

---In ms: longer than the executable waits for the other machine.
local WAIT_MS = 35000
local WHOLE = "only a whole buffer can be written there, to the file that it shows"

local M = {}

---@type table<integer, string> by buffer: which version of its file it was read from
local versions = {}

---As of `Mirror.write`; "" for no file.
local function version(name)
  local stat = uv.fs_stat(name)
  return stat and table.concat({ stat.mtime.sec, stat.mtime.nsec, stat.size }, ":") or ""
end

---@param method string
---@param params table
---@return string? problem
local function wait_for(method, params)
  local is_answered, problem = false, nil ---@type boolean, string?
  require("claude-code.server.requests").request("remote/" .. method, params, function(_, failure)
    is_answered, problem = true, failure
  end)
  vim.wait(WAIT_MS, function()
    return is_answered
  end, 10)
  return not is_answered and "there is no answer yet" or problem
end

---Neovim's own copy, to the byte.
local function write_as(name)
  local mods = { noautocmd = true, keepalt = true, silent = true }
  vim.cmd.write({ name, bang = true, magic = { file = false }, mods = mods })
end

---Brings what is there; then Neovim reads it once more, if it has another text.
local function refresh(name)
  require("claude-code.server.requests").request("remote/bring", { path = name }, function()
    require("claude-code.editor.documents.reload").now({ path = name })
  end)
end

---@param buf integer current
---@param name string
---@return string? problem why it was not written
local function write(buf, name)
  if name ~= api.nvim_buf_get_name(buf) then
    return WHOLE
  elseif vim.v.cmdarg ~= "" then
    return "set the option instead of " .. vim.v.cmdarg
  end
  local is_forced = vim.v.cmdbang == 1
  api.nvim_exec_autocmds("BufWritePre", { buffer = buf, modeline = false })
  local file = vim.fn.tempname()
  write_as(file)
  local base = not is_forced and (versions[buf] or "") or nil
  local problem = wait_for("write", { path = name, file = file, version = base })
  os.remove(file)
  if problem then
    vim.bo[buf].modified = true
    return problem
  end
  write_as(name)
  versions[buf] = version(name)
  api.nvim_exec_autocmds("BufWritePost", { buffer = buf, modeline = false })
  -- Somebody may have changed it there in this moment.
  refresh(name)
end

---For the autocommand, which then fails as `:w` does.
---@return string command
function M.write()
  local name = vim.fn.expand("<amatch>")
  local buf = tonumber(vim.fn.expand("<abuf>")) --[[@as integer]]
  local ok, problem = pcall(write, buf, name)
  if not ok then
    vim.bo[buf].modified = true
  elseif not problem then
    return ""
  end
  local text = ("%s was not written: %s"):format(vim.fs.basename(name), problem)
  return "echoerr " .. vim.fn.string(text)
end

---@param args { buf: integer, match: string }
local function bring(args)
  versions[args.buf] = ""
  local problem = wait_for("bring", { path = args.match })
  if problem then
    require("claude-code.messages.notify").warn(vim.fs.basename(args.match) .. ": " .. problem)
  elseif uv.fs_stat(args.match) then
    vim.cmd("keepalt edit")
  end
end

---@param args { buf: integer, match: string }
local function note(args)
  versions[args.buf] = version(args.match)
end

---@return string[] patterns of the files, also where the state folder is a symlink
local function patterns()
  local state = vim.env.XDG_STATE_HOME or ""
  state = vim.startswith(state, "/") and state or vim.env.HOME .. "/.local/state"
  local name = "/claude-code.nvim/mirrors/*"
  if vim.fn.has("win32") == 1 then
    state, name = vim.fs.normalize(vim.env.LOCALAPPDATA), "/claude-code.nvim/state/mirrors/*"
  end
  local found = {}
  for folder in pairs({ [state] = true, [uv.fs_realpath(state) or state] = true }) do
    found[#found + 1] = folder:gsub("[%*%?%[%]{},\\]", "\\%0") .. name
  end
  return found
end

---From now on what is written to such a file goes to its machine, or nowhere.
function M.follow()
  local group = api.nvim_create_augroup("claude-code.mirror", { clear = true })
  local all = patterns()
  local function on(events, callback, nested)
    local options = { group = group, pattern = all, nested = nested }
    options[type(callback) == "string" and "command" or "callback"] = callback
    api.nvim_create_autocmd(events, options)
  end
  on("BufNewFile", bring, true)
  -- Before it is read: what is written in that moment is another version.
  on("BufReadPre", note)
  on("FileChangedShellPost", note)
  on("BufReadPost", function(args)
    refresh(args.match)
  end)
  on("BufWriteCmd", "execute v:lua.require'claude-code.editor.documents.mirror'.write()")
  on({ "FileWriteCmd", "FileAppendCmd" }, "echoerr " .. vim.fn.string(WHOLE))
end

return M
