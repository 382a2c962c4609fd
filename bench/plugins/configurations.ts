import { ROOT } from "../../test/support/toolchain";
import { folderOf, type PluginName } from "./archives";
import type { Setup } from "./editor";

/** A plugin's entry in lazy.nvim's list. */
const spec = (name: PluginName, rest: string) =>
  `{ dir = [[${folderOf(name)}]], name = "${name}", ${rest} }`;

/** Our entry. */
export const ours = (rest: string, options = "") =>
  `{ dir = [[${ROOT}]], name = "claude-code.nvim", config = function()
    require("port").clock.QUIET_MS = 0
    require("claude-code").setup({ ${options} })
  end, ${rest} }`;

/** An init.lua that makes lazy.nvim load all plugins, from existing folders. */
export function byLazy(specs: string[], options = "", after = ""): string {
  return `
vim.g.mapleader = " "
vim.o.swapfile = false
vim.o.termguicolors = true
${options}
local own = vim.fn.stdpath("state") .. "/lazy"
local lib = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(vim.v.progpath))) .. "/lib/nvim"
vim.opt.rtp:prepend([[${folderOf("lazy.nvim")}]])
require("lazy").setup({
  spec = { ${specs.join(",\n")} },
  root = own, lockfile = own .. ".json", change_detection = { enabled = false },
  rocks = { enabled = false }, performance = { rtp = { paths = { lib } } },
})
${after}`;
}

const formats = `opts = { formatters_by_ft = { lua = { "trim" } }, format_on_save = { timeout_ms = 800 },
  formatters = { trim = { command = "sed", args = { "-e", "s/[ \\t]*$//" }, stdin = true } } }`;

const LAZYVIM_LIKE = byLazy(
  [
    spec(
      "snacks.nvim",
      `lazy = false, priority = 1000, opts = { bigfile = { enabled = true },
      indent = { enabled = true }, input = { enabled = true }, notifier = { enabled = true },
      scope = { enabled = true }, scroll = { enabled = true }, words = { enabled = true },
      statuscolumn = { enabled = true }, picker = {}, explorer = {}, terminal = {} }`,
    ),
    spec("nui.nvim", "lazy = true"),
    spec("plenary.nvim", "lazy = true"),
    spec(
      "noice.nvim",
      `event = "VeryLazy", opts = { presets = { bottom_search = true,
      command_palette = true, long_message_to_split = true } }`,
    ),
    spec("which-key.nvim", `event = "VeryLazy", opts = { preset = "helix" }`),
    spec("flash.nvim", `event = "VeryLazy", opts = {}`),
    spec("gitsigns.nvim", `event = { "BufReadPost", "BufNewFile" }, opts = {}`),
    spec("bufferline.nvim", `event = "VeryLazy", opts = {}`),
    spec(
      "lualine.nvim",
      `event = "VeryLazy", opts = { options = { globalstatus = true },
      sections = { lualine_x = { "claude_code" } } }`,
    ),
    spec("trouble.nvim", `cmd = "Trouble", opts = {}`),
    spec("persistence.nvim", `event = "BufReadPre", opts = {}`),
    spec("conform.nvim", `event = "BufWritePre", ${formats}`),
    spec("nvim-lint", `event = "BufReadPost"`),
    spec(
      "mini.nvim",
      `event = "VeryLazy", config = function()
      require("mini.ai").setup() require("mini.pairs").setup() end`,
    ),
    spec(
      "edgy.nvim",
      `event = "VeryLazy", opts = { animate = { enabled = false },
      right = { { title = "Claude", ft = "claude-code-terminal", size = { width = 0.36 } } } }`,
    ),
    ours(`event = "VeryLazy"`),
  ],
  `vim.o.laststatus = 3 vim.o.splitkeep = "screen" vim.o.splitright = true vim.o.splitbelow = true
   vim.o.number = true vim.o.relativenumber = true vim.o.signcolumn = "yes" vim.o.scrolloff = 4
   vim.o.cursorline = true vim.o.list = true vim.o.wrap = false vim.o.confirm = true
   vim.o.timeoutlen = 300 vim.o.updatetime = 200 vim.o.undofile = true`,
  `vim.api.nvim_create_autocmd("VimResized", { callback = function() vim.cmd("tabdo wincmd =") end })
   vim.api.nvim_create_autocmd({ "FocusGained", "TermClose", "TermLeave" }, { command = "silent! checktime" })`,
);

const MINI = byLazy([
  spec(
    "mini.nvim",
    `lazy = false, config = function()
    for _, name in ipairs({ "basics", "ai", "surround", "bracketed", "cursorword", "hipatterns",
      "indentscope", "trailspace", "pairs", "comment", "move", "splitjoin", "bufremove", "visits",
      "completion", "statusline", "tabline", "diff", "git", "files", "extra", "icons", "animate",
      "jump", "jump2d", "misc", "notify", "pick", "sessions" }) do
      require("mini." .. name).setup()
    end
    vim.notify = MiniNotify.make_notify()
    vim.ui.select = MiniPick.ui_select
    require("mini.clue").setup{ triggers = { { mode = "n", keys = "g" }, { mode = "n", keys = "]" } } }
    MiniMisc.setup_restore_cursor()
  end`,
  ),
  ours("lazy = false"),
]);

const KICKSTART_LIKE = byLazy(
  [
    spec("plenary.nvim", "lazy = true"),
    spec("nui.nvim", "lazy = true"),
    spec("gitsigns.nvim", `opts = { signs = { add = { text = "+" }, change = { text = "~" } } }`),
    spec("which-key.nvim", `event = "VimEnter", opts = { delay = 0 }`),
    spec(
      "telescope.nvim",
      `event = "VimEnter", config = function() require("telescope").setup{} end`,
    ),
    spec("conform.nvim", `event = "BufWritePre", ${formats}`),
    spec(
      "mini.nvim",
      `config = function() require("mini.ai").setup{ n_lines = 500 }
      require("mini.surround").setup() require("mini.statusline").setup{ use_icons = false } end`,
    ),
    spec("neo-tree.nvim", "lazy = false, opts = {}"),
    ours("lazy = false"),
  ],
  `vim.o.number = true vim.o.mouse = "a" vim.o.showmode = false vim.o.breakindent = true
   vim.o.undofile = true vim.o.signcolumn = "yes" vim.o.updatetime = 250 vim.o.timeoutlen = 300
   vim.o.splitright = true vim.o.splitbelow = true vim.o.list = true vim.o.inccommand = "split"
   vim.o.cursorline = true vim.o.scrolloff = 10 vim.o.confirm = true`,
);

/** Whole configurations with many plugins, which load as for their users. */
export const CONFIGURATIONS: Setup[] = [
  { name: "LazyVim-like (16 plugins)", plugins: [], init: LAZYVIM_LIKE },
  { name: "mini.nvim (30 modules)", plugins: [], init: MINI },
  { name: "kickstart-like (9 plugins)", plugins: [], init: KICKSTART_LIKE, newestOnly: true },
];
