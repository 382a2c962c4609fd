--- Files that are on another machine alone: private copies of them here, which the executable keeps as they are there
--- (src/remote/mirror.ts). `:edit` brings one, and `:w` writes it there.
local api, uv = vim.api, vim.uv
local copies = require("claude-code.editor.documents.copies")
local disk = require("claude-code.editor.documents.disk")
local reload = require("claude-code.editor.documents.reload")

---In ms: longer than the executable waits for the other machine; and when a message says so.
local WAIT_MS, SILENT_MS = 35000, 500
local WHOLE = "only a whole buffer can be written there, to the file that it shows"

local M = {}

---@type table<integer, { path: string, version: string }> by buffer: what its text was read from or written to, as
--- of `Mirror.write`
local files = {}

---@param method string
---@param params { path: string }
---@return any? value
---@return string? problem
local function wait_for(method, params)
  local is_answered, value, problem = false, nil, nil ---@type boolean, any?, string?
  require("claude-code.server.requests").request("remote/" .. method, params, function(...)
    is_answered, value, problem = true, ...
  end)
  local function has_answer()
    return is_answered
  end
  local _, code = vim.wait(SILENT_MS, has_answer, 10)
  if code == -1 then
    local text = vim.fs.basename(params.path) .. ": waiting for its machine; CTRL-C ends the wait"
    api.nvim_echo({ { text } }, true, {})
    vim.cmd.redraw()
    vim.wait(WAIT_MS, has_answer, 10)
  end
  if not is_answered then
    return nil, "there is no answer yet, and it may still be done"
  end
  return value, problem
end

---Neovim's own bytes of the current buffer.
---@param file string
---@param name string shown
---@return string said by `:w`
local function write_as(file, name)
  vim.fn.writefile({}, file)
  local options, command = vim.o.cpoptions, { cmd = "write", args = { file }, bang = true }
  command.magic, command.mods = { file = false }, { noautocmd = true, keepalt = true }
  -- With "A" the file becomes a buffer.
  vim.o.cpoptions = options:gsub("A", "")
  local ok, said = pcall(api.nvim_cmd, command, { output = true })
  vim.o.cpoptions = options
  if not ok then
    error(said, 0)
  end
  local shown = ('"%s"'):format(vim.fn.fnamemodify(name, ":~:.")):gsub("%%", "%%%%")
  said = said:gsub('^%s*["<][^"]*"', shown)
  local excess = vim.fn.strchars(said) - vim.v.echospace
  return excess > 0 and "<" .. vim.fn.strcharpart(said, excess + 1) or said
end

---Brings what is there; then Neovim reads it once more, if it has another text.
local function refresh(path)
  require("claude-code.server.requests").request("remote/bring", { path = path }, function()
    reload.now({ path = path })
  end)
end

---@param buf integer current
---@param name string
---@return string? problem why it was not written
local function write(buf, name)
  local path, read = copies.path(name), files[buf]
  if not path or path ~= copies.path(api.nvim_buf_get_name(buf)) then
    return WHOLE
  elseif vim.v.cmdarg ~= "" then
    return "set the option instead of " .. vim.v.cmdarg
  end
  local base = vim.v.cmdbang == 0 and (read and read.path == path and read.version or "") or nil
  api.nvim_exec_autocmds("BufWritePre", { buffer = buf, modeline = false })
  local file = vim.fn.tempname()
  local said = write_as(file, name)
  local is_lossy = said:find(vim.fn.gettext(" CONVERSION ERROR"), 1, true) ~= nil
  local tick = api.nvim_buf_get_changedtick(buf)
  local written, problem = wait_for("write", { path = path, file = file, version = base })
  os.remove(file)
  if problem then
    return problem
  end
  files[buf] = { path = path, version = written }
  api.nvim_buf_call(buf, function()
    -- What has changed in the wait was not written.
    vim.bo.modified = is_lossy or api.nvim_buf_get_changedtick(buf) ~= tick
    api.nvim_echo({ { said } }, false, {})
    api.nvim_exec_autocmds("BufWritePost", { buffer = buf, modeline = false })
  end)
  -- Somebody may have changed it there in this moment.
  refresh(path)
end

---For the autocommand, which then fails as `:w` does.
---@return string command
function M.write()
  local name = vim.fn.expand("<amatch>")
  local buf = tonumber(vim.fn.expand("<abuf>")) --[[@as integer]]
  reload.hold(buf, true)
  local ok, problem = pcall(write, buf, name)
  reload.hold(buf, false)
  if ok and not problem then
    return ""
  end
  vim.schedule(function()
    reload.check(buf)
  end)
  local text = ("%s was not written: %s"):format(vim.fs.basename(name), problem)
  return "echoerr " .. vim.fn.string(text)
end

---From now on what is written to such a file goes to its machine, or nowhere.
function M.follow()
  local group = api.nvim_create_augroup("claude-code.mirror", { clear = true })
  local served = {} ---@type table<string, true>
  ---@param top string what leads to copies
  local function serve(top)
    local pattern = top:gsub("[%*%?%[%]{},\\]", "\\%0")
    local function on(events, command)
      local patterns = { pattern, pattern .. "/*" }
      -- Nested, since other files change in the wait (FileChangedShell).
      local options = { group = group, pattern = patterns, command = command, nested = true }
      api.nvim_create_autocmd(events, options)
    end
    if not served[top] then
      served[top] = true
      on("BufWriteCmd", "execute v:lua.require'claude-code.editor.documents.mirror'.write()")
      on({ "FileWriteCmd", "FileAppendCmd" }, "echoerr " .. vim.fn.string(WHOLE))
    end
  end
  ---@param events string|string[]
  ---@param callback fun(buf: integer, path: string)
  local function on(events, callback)
    local function for_copy(args)
      local path = copies.path(args.match)
      if path then
        -- A symlink may lead there, by which Neovim then writes it, too.
        serve(copies.top(vim.startswith(args.file, "/") and args.file or args.match))
        callback(args.buf, path)
      end
    end
    api.nvim_create_autocmd(events, { group = group, callback = for_copy, nested = true })
  end
  on("BufNewFile", function(buf, path)
    files[buf] = { path = path, version = "" }
    local _, problem = wait_for("bring", { path = path })
    if problem then
      require("claude-code.messages.notify").warn(vim.fs.basename(path) .. ": " .. problem)
    elseif uv.fs_stat(path) then
      api.nvim_buf_call(buf, function()
        vim.cmd("keepalt edit")
      end)
    end
  end)
  -- Before it is read: what is written in that moment is another version.
  on("BufReadPre", function(buf, path)
    files[buf] = { path = path, version = disk.written_version(path) }
  end)
  on("BufReadPost", function(_, path)
    refresh(path)
  end)
  vim.iter({ copies.root() }):each(serve)
end

return M
