--- The name of the suggested keys' group in which-key.nvim, whenever that is loaded.
local M = {}

local GROUP = "claude-code.keymaps.which_key"

local function add()
  local ok, which_key = pcall(require, "which-key")
  -- Version 3 has it.
  if ok and which_key.add then
    which_key.add({ { "<leader>a", group = "Claude", mode = { "n", "x" } } })
  end
end

function M.name()
  if package.loaded["which-key"] then
    return add()
  end
  vim.api.nvim_create_autocmd("SourcePost", {
    group = vim.api.nvim_create_augroup(GROUP, { clear = true }),
    pattern = "*/plugin/which-key.lua",
    once = true,
    callback = vim.schedule_wrap(add),
  })
end

--- No longer waits for which-key.nvim.
function M.cancel()
  vim.api.nvim_create_augroup(GROUP, { clear = true })
end

return M
