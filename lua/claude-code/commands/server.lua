--- The subcommands for the server, its executable and a project's set-up. The comment above each is its
--- documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

--- Reports the result of an installation, and starts a server that failed without it.
local function after_install(executable, message)
  if not executable then
    return notify.error(message --[[@as string]])
  end
  notify.info(message --[[@as string]])
  if require("claude-code.server").state == "failed" then
    require("claude-code").start()
  end
end

--- `nvim --headless "+Claude install" +qa` fails by its exit code, the build step of a plugin manager by an error,
--- after which the manager continues.
local function fail_install(message)
  message = "claude-code.nvim: " .. message
  local is_script = vim.iter(vim.v.argv):any(function(word)
    return word:match("^%+?:?Claude!? install") ~= nil
  end)
  if not is_script then
    error(message, 0)
  end
  io.stderr:write(message .. "\n")
  vim.cmd.cquit()
end

local function install(args)
  -- Neovim's own commands expand names of files too.
  local path = args.fargs[1] and vim.fn.expandcmd(table.concat(args.fargs, " "))
  local request = { archive = path, force = args.bang }
  local installer = require("claude-code.install")
  local has_ui = #vim.api.nvim_list_uis() > 0
  if has_ui and not installer.is_build_step() then
    return installer.start(request, after_install)
  end
  local executable, message = installer.wait(request)
  if not executable then
    return fail_install(message --[[@as string]])
  elseif has_ui then
    return after_install(executable, message)
  end
  print("claude-code.nvim: " .. message)
end

---@type table<string, claude-code.Subcommand>
return {
  --- Shows in a window what `:checkhealth claude-code` finds: the state of the server, its clients,
  --- and what is wrong.
  status = {
    run = function()
      require("claude-code.health").show()
    end,
  },

  --- Opens the log file. The plugin and the executable both write to it.
  log = {
    run = function()
      local path = require("claude-code.messages.log").path()
      if not vim.uv.fs_stat(path) then
        notify.info(("the log file %s does not exist yet"):format(path))
        return
      end
      vim.cmd.sview({ path, magic = { file = false } })
      vim.cmd("normal! G")
      vim.bo.autoread = true
    end,
  },

  --- Installs the executable of this version of the plugin: downloads it, unless it is built in the
  --- plugin's folder, or takes it from a release archive whose path you give. With ! it replaces one
  --- that is installed. Without a UI it waits and raises an error if it fails. In
  --- `nvim --headless "+Claude install" +qa` it ends Neovim with the exit code 1 instead.
  install = {
    args = "[archive]",
    bang = true,
    complete = complete.files,
    run = install,
  },

  --- Sets up the project for a Claude CLI that you start outside of Neovim: hooks in
  --- .claude/settings.local.json, the MCP server nvim-lsp in the CLI's own configuration, this
  --- Neovim's address in .nvim-claude/. It shows what it would change, and asks first.
  setup = {
    run = function()
      require("claude-code.project").install()
    end,
  },

  --- Removes what `:Claude setup` added to the project, and nothing else.
  unsetup = {
    run = function()
      require("claude-code.project").uninstall()
    end,
  },
}
