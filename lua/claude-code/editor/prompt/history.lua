--- Earlier prompts of the project, as in the command line's history: those of this Neovim's user, and those in the
--- CLI's transcripts.
local api = vim.api

local M = {}

local own = {} ---@type string[] newest first

function M.add(text)
  table.insert(own, 1, text)
end

---@param done fun(prompts: string[]) newest first, each once
local function list(done)
  require("claude-code.server.channel").request("sessions/prompts", {}, function(written)
    local prompts, seen = {}, {}
    for _, text in ipairs(vim.list_extend(vim.list_slice(own), written or {})) do
      if not seen[text] then
        seen[text] = true
        prompts[#prompts + 1] = text
      end
    end
    done(prompts)
  end)
end

local function show(buf, text)
  local lines = vim.split(text, "\n")
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  api.nvim_win_set_cursor(0, { #lines, #lines[#lines] })
end

--- Maps CTRL-P and CTRL-N in a prompt's buffer. Its own text comes after the newest prompt.
function M.attach(buf)
  local at, text, prompts = 0, "", nil ---@type integer, string, string[]?
  local function go(step)
    if at == 0 then
      text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, true), "\n")
    end
    local wanted = at + step
    if wanted >= 0 and wanted <= #prompts and vim.bo[buf].modifiable then
      at = wanted
      show(buf, prompts[at] or text)
    end
  end
  for key, step in pairs({ ["<C-p>"] = 1, ["<C-n>"] = -1 }) do
    vim.keymap.set({ "n", "i" }, key, function()
      if vim.fn.pumvisible() == 1 then
        return api.nvim_feedkeys(vim.keycode(key), "n", false)
      elseif prompts then
        return go(step)
      end
      list(function(found)
        prompts = found
        if api.nvim_get_current_buf() == buf then
          go(step)
        end
      end)
    end, { buffer = buf, desc = step > 0 and "The prompt before" or "The prompt after" })
  end
end

function M.choose(callback)
  list(function(prompts)
    if #prompts == 0 then
      return require("claude-code.messages.notify").info("this project has no earlier prompt")
    end
    require("claude-code.lib.choose")("Earlier prompts:", prompts, function(text)
      return require("claude-code.lib.text").one_line(text, 120) or ""
    end, callback)
  end)
end

return M
