--- The report on plugin, Neovim and Claude Code, for `:checkhealth claude-code` and `:Claude status`: what
--- `claude-code-nvim doctor` finds. Where that program cannot run, what this Neovim knows by itself.
local status = require("claude-code.status")

local M = {}

local DOCTOR_MS = 20000
--- The program's version is asked before.
local REPORT_MS = DOCTOR_MS + 5000

---@param done fun(findings?: claude-code.Finding[], message?: string)
local function consult(path, done)
  local executable = require("claude-code.install.executable")
  -- That of a CLI that is started outside of this Neovim, which is the harder case; and the way to this Neovim.
  local env = executable.environment()
  env.CLAUDE_CODE_SSE_PORT = nil
  env.NVIM = require("claude-code.server.endpoint").address()
  local options = { env = env, cwd = vim.fn.getcwd(), timeout = DOCTOR_MS }
  executable.run({ path, "doctor", "--json" }, options, function(result)
    local is_json, answer = pcall(vim.json.decode, result.stdout)
    if is_json and type(answer) == "table" then
      return done(answer.findings)
    end
    done(nil, ("exit code %d %s"):format(result.code, vim.trim(result.stderr)))
  end)
end

---@param done fun(findings: claude-code.Finding[]) called before this returns, or in the main loop
local function gather(done)
  local locate = require("claude-code.install.locate")
  local binary = locate.find()
  if not binary then
    return done(status.findings())
  end
  local function fail(what, remedy)
    local cause = "executable-broken"
    done(status.findings({ level = "error", cause = cause, what = what, remedy = remedy }))
  end
  require("claude-code.install.executable").version(binary.path, function(version, failure)
    local plugin = require("claude-code.install.contract").version
    local place = ("%s (%s)"):format(binary.path, binary.source)
    if not version then
      return fail(("%s does not run: %s"):format(place, failure), locate.remedy(binary.source))
    elseif version ~= plugin then
      local text = "%s has version %s, the plugin %s"
      return fail(text:format(place, version, plugin), locate.remedy(binary.source))
    end
    consult(binary.path, function(findings, message)
      if findings then
        return done(findings)
      end
      local what = ("`%s doctor` failed: %s"):format(binary.path, message)
      fail(what, "run it in a terminal and report its output")
    end)
  end)
end

local REPORTERS = { ok = "ok", note = "info", warning = "warn", error = "error" }

--- :checkhealth claude-code
function M.check()
  local findings ---@type claude-code.Finding[]?
  gather(function(found)
    findings = found
  end)
  -- Neovim answers the questions of the executable while it waits.
  vim.wait(REPORT_MS, function()
    return findings ~= nil
  end, 10)
  vim.health.start("claude-code.nvim")
  for _, finding in ipairs(findings or status.findings()) do
    vim.health[REPORTERS[finding.level]](finding.what, finding.remedy)
  end
end

--- :Claude status: at once what Neovim knows, and then all.
function M.show()
  local float = require("claude-code.messages.float")
  local first = status.lines(status.findings())
  local buf = float.open("Claude Code", vim.list_extend(first, { "", "looking further …" }))
  gather(function(findings)
    float.fill(buf, status.lines(findings))
  end)
end

return M
