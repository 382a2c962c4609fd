--- The subcommands for the server, its executable and a project's setup. The comment above each is its documentation.
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

--- `nvim --headless "+Claude install" +qa` reports failure by its exit code, a plugin manager's build step by an error.
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
  -- Neovim's own commands expand file names as well.
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
  --- Shows the findings of `:checkhealth claude-code` in a window: server, clients, and problems.
  status = {
    run = function()
      require("claude-code.health").show()
    end,
  },

  --- Opens the log file of the plugin and the executable.
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

  --- Installs the executable for this version of the plugin: downloads it unless the plugin's folder
  --- has a built one, or unpacks the given release archive. With ! it replaces an installed executable.
  --- Without a UI it waits, and raises an error on failure.
  install = {
    args = "[archive]",
    bang = true,
    complete = complete.files,
    run = install,
  },

  --- Sets up the project for a Claude CLI that you start outside of Neovim: enables the plugin for
  --- Claude Code in .claude/settings.local.json, and writes this Neovim's address to .nvim-claude/.
  --- It shows what it would change, and asks first.
  setup = {
    run = function()
      require("claude-code.project").install()
    end,
  },

  --- Removes only what `:Claude setup` added to the project.
  unsetup = {
    run = function()
      require("claude-code.project").uninstall()
    end,
  },
}
