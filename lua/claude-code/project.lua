--- Sets up projects for a Claude CLI outside of Neovim: :Claude setup, :Claude unsetup and the option
--- mcp.auto_install. The executable does the work.
local notify = require("claude-code.messages.notify")

local M = {}

---@param path string the executable
---@param callback fun(code: integer, stdout: string, stderr: string) in the main loop
local function run(path, command, options, callback)
  local words = { path, command, "--project", require("claude-code.lib.workspace").tab_folder(0) }
  local claude = require("claude-code.claude.cli").command()
  if claude then
    vim.list_extend(words, { "--claude", claude[1] })
  end
  local executable = require("claude-code.install.executable")
  local env = executable.environment()
  env.NVIM = require("claude-code.server.endpoint").address()
  executable.run(vim.list_extend(words, options), { env = env }, function(result)
    callback(result.code, vim.trim(result.stdout or ""), vim.trim(result.stderr or ""))
  end)
end

local function without_name(text)
  return (text:gsub("^claude%-code%-nvim: ", ""))
end

local function report(code, out, err)
  if code == 0 then
    notify.info(out)
  else
    notify.error(without_name(err ~= "" and err or out))
  end
end

local function has_steps(plan)
  return plan:find("\n  ") ~= nil
end

---@param labels string the choices, one on each line; the last one declines
---@param options string[][] of the other choices
---@param done string message for success
local function confirm_and_run(command, question, labels, options, done)
  local path, message = require("claude-code.server").executable()
  if not path then
    return notify.error(message --[[@as string]])
  end
  run(path, command, { "--dry-run" }, function(code, plan, err)
    if code ~= 0 or not has_steps(plan) then
      return report(code, plan, err)
    end
    local text = plan .. "\n\n" .. question
    local chosen = options[vim.fn.confirm(text, labels, #options + 1, "Question")]
    -- The dialog has scrolled the screen, and Neovim would ask for Enter.
    notify.redraw()
    if not chosen then
      return notify.info("nothing was changed")
    end
    run(path, command, vim.list_extend({ "--yes" }, chosen), function(status, out, problem)
      if status ~= 0 then
        return report(status, out, problem)
      end
      require("claude-code.messages.log").info("%s: %s", command, out)
      notify.info(done)
    end)
  end)
end

function M.install()
  if #vim.api.nvim_list_uis() == 0 then
    -- In the build step of a plugin manager the folder is not the user's choice.
    local path, message = require("claude-code.server").executable()
    if not path then
      error("claude-code.nvim: " .. message, 0)
    end
    local text = "claude-code.nvim: the executable is %s; in a project, run :Claude setup"
    return print(text:format(path))
  end
  local labels = "&Yes\nYes &and a section in CLAUDE.md\n&No"
  local options = { {}, { "--claude-md" } }
  local done = "set up for new Claude sessions; :Claude unsetup undoes it"
  confirm_and_run("install-hooks", "Set this project up?", labels, options, done)
end

function M.uninstall()
  local done = "what :Claude setup added to this project was removed"
  confirm_and_run("uninstall-hooks", "Undo this?", "&Yes\n&No", { {} }, done)
end

--- Sets each project up only once, and reports only changes.
local function install_once()
  local path = require("claude-code.server").executable()
  if not path or #require("claude-code.lib.workspace").folders() == 0 then
    return
  end
  run(path, "install-hooks", { "--yes", "--once" }, function(code, out, err)
    local log = require("claude-code.messages.log")
    if code ~= 0 then
      log.warn("mcp.auto_install: %s", without_name(err))
    elseif has_steps(out) then
      notify.info("this project was set up for Claude; :Claude unsetup undoes it")
      log.info("mcp.auto_install: %s", out)
    end
  end)
end

---@param enabled boolean the option mcp.auto_install
function M.set_auto_install(enabled)
  local group = require("claude-code.lib.autocommands").new("project")
  if not enabled then
    return
  end
  group:on("User", install_once, { pattern = "ClaudeCodeServerStarted" })
  group:on("DirChanged", function()
    if require("claude-code.server").state == "ready" then
      install_once()
    end
  end)
end

return M
