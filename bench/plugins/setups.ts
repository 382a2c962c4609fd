import type { PluginName } from "./archives";
import { byLazy, ours } from "./configurations";
import type { Setup } from "./editor";

/** The keys with which a plugin takes the keyboard and returns it. */
export interface Keyboard {
  take: string;
  /** A text or mode that shows that the plugin has the keyboard. */
  taken: string | RegExp;
  give: string;
  /** The plugin shows the user's file in a float that stays, so a diff is in a tab page of its own. */
  stays?: true;
}

export interface PluginSetup extends Setup {
  keyboard?: Keyboard;
}

const plugin = (
  name: string,
  plugins: PluginName[],
  lua: string,
  keyboard?: Keyboard,
): PluginSetup => ({ name, plugins, lua, ...(keyboard && { keyboard }) });

const setup = (module: string, options = "") => `require("${module}").setup{${options}}`;
const mini = (...modules: string[]) =>
  modules.map((module) => `require("mini.${module}").setup()`).join("\n");
const onEnter = (command: string) =>
  `vim.api.nvim_create_autocmd("VimEnter", { callback = vim.schedule_wrap(function() ${command} end) })`;

/** Each has one plugin, set up as its README says, with the features that may affect a diff. */
export const SETUPS: PluginSetup[] = [
  plugin("auto-save", ["auto-save.nvim"], setup("auto-save", "debounce_delay = 100")),
  { ...plugin("auto-session", ["auto-session"], setup("auto-session")), savesSessions: true },
  plugin("bufferline", ["bufferline.nvim"], setup("bufferline")),
  plugin(
    "conform",
    ["conform.nvim"],
    `require("conform").setup{ formatters_by_ft = { lua = { "trim" } },
      formatters = { trim = { command = "sed", args = { "-e", "s/[ \\t]*$//" }, stdin = true } },
      format_on_save = { timeout_ms = 800 } }`,
  ),
  plugin("diffview", ["diffview.nvim", "plenary.nvim"], setup("diffview", "use_icons = false")),
  plugin("dressing", ["dressing.nvim"], setup("dressing"), {
    take: ":lua vim.ui.input({ prompt = 'Name' }, function() end)<CR>abc",
    taken: "abc",
    give: "<Esc><Esc>",
  }),
  plugin(
    "edgy",
    ["edgy.nvim"],
    `vim.o.laststatus = 3 vim.o.splitkeep = "screen"
     require("edgy").setup{ animate = { enabled = false },
       right = { { ft = "claude-code-terminal", title = "Claude", size = { width = 0.36 } } } }`,
  ),
  plugin(
    "flash",
    ["flash.nvim"],
    `${setup("flash")} vim.keymap.set("n", "s", function() require("flash").jump() end)`,
    { take: "sfu", taken: /[a-z]nction/, give: "<Esc>" },
  ),
  plugin(
    "fugitive",
    ["vim-fugitive"],
    `vim.cmd("runtime plugin/fugitive.vim") ${onEnter('vim.cmd("Git | wincmd p")')}`,
  ),
  plugin(
    "gitsigns",
    ["gitsigns.nvim"],
    setup("gitsigns", "current_line_blame = true, numhl = true"),
  ),
  plugin(
    "heirline",
    ["heirline.nvim"],
    `require("heirline").setup{ statusline = { provider = "%f" }, winbar = { provider = "WB %f" } }`,
  ),
  {
    name: "lazy.nvim, its window",
    plugins: [],
    init: byLazy([ours("lazy = false")]),
    keyboard: { take: ":Lazy<CR>", taken: "Install", give: "q" },
  },
  plugin(
    "lualine",
    ["lualine.nvim"],
    setup("lualine", "sections = { lualine_x = { 'claude_code' } }"),
  ),
  plugin(
    "lualine, its winbar",
    ["lualine.nvim"],
    setup(
      "lualine",
      "winbar = { lualine_c = { 'filename' } }, inactive_winbar = { lualine_c = { 'filename' } }",
    ),
  ),
  plugin("mini.animate", ["mini.nvim"], mini("animate")),
  plugin(
    "mini.clue, mini.notify",
    ["mini.nvim"],
    `${mini("notify")} vim.notify = MiniNotify.make_notify()
     require("mini.clue").setup{ window = { delay = 100 },
       triggers = { { mode = "n", keys = "g" }, { mode = "n", keys = "]" } } }`,
    { take: "g", taken: /Comment|gg|Go to|comment/, give: "<Esc>" },
  ),
  plugin("mini.diff", ["mini.nvim"], mini("diff")),
  plugin("mini.files", ["mini.nvim"], mini("files"), {
    take: ":lua MiniFiles.open()<CR>",
    taken: /other\.lua[\s\S]*│/,
    give: "q",
  }),
  plugin("mini.pick", ["mini.nvim"], mini("pick"), {
    take: ":Pick files<CR>ma",
    taken: "> ma",
    give: "<Esc>",
  }),
  {
    ...plugin(
      "mini.sessions",
      ["mini.nvim"],
      `require("mini.sessions").setup{ autowrite = true, file = "Session.vim" }
       ${onEnter('vim.cmd("mksession") vim.v.this_session = vim.fn.getcwd() .. "/Session.vim"')}`,
    ),
    savesSessions: true,
  },
  plugin("mini.statusline, mini.tabline", ["mini.nvim"], mini("statusline", "tabline")),
  plugin(
    "mini.surround and 15 more",
    ["mini.nvim"],
    mini(
      ..."ai surround operators bracketed cursorword hipatterns trailspace pairs comment".split(
        " ",
      ),
      ..."indentscope move splitjoin jump bufremove visits completion".split(" "),
    ),
    {
      take: "0wsaiw",
      taken: "",
      give: "<Esc>",
    },
  ),
  plugin(
    "neo-tree",
    ["neo-tree.nvim", "plenary.nvim", "nui.nvim"],
    `${setup("neo-tree", "enable_git_status = false")} ${onEnter('vim.cmd("Neotree show")')}`,
    { take: ":Neotree float<CR>", taken: /╭/, give: "q" },
  ),
  plugin("noice, nvim-notify", ["noice.nvim", "nui.nvim", "nvim-notify"], setup("noice"), {
    take: ":s/foo",
    taken: "foo",
    give: "<C-c>",
  }),
  plugin(
    "nvim-lint",
    ["nvim-lint"],
    `local lint = require("lint")
     lint.linters.fake = { cmd = "sh", args = { "-c", "cat >/dev/null" }, stdin = true,
       parser = function() return { { lnum = 0, col = 0, message = "bad", severity = 2 } } end }
     lint.linters_by_ft = { lua = { "fake" } }
     vim.api.nvim_create_autocmd({ "BufEnter", "BufWritePost", "InsertLeave" }, {
       callback = function() lint.try_lint() end })`,
  ),
  plugin("nvim-notify", ["nvim-notify"], `vim.notify = require("notify")`),
  plugin(
    "nvim-tree",
    ["nvim-tree.lua"],
    `vim.g.loaded_netrwPlugin = 1
     require("nvim-tree").setup{ update_focused_file = { enable = true },
       renderer = { icons = { show = { file = false, folder = false } } } }
     ${onEnter('require("nvim-tree.api").tree.toggle{ focus = false }')}`,
  ),
  plugin(
    "nvim-ufo",
    ["nvim-ufo", "promise-async"],
    `vim.o.foldcolumn = "1" vim.o.foldlevel = 99 vim.o.foldlevelstart = 99
     require("ufo").setup{ provider_selector = function() return { "indent" } end }`,
  ),
  plugin("oil", ["oil.nvim"], setup("oil", "columns = {}"), {
    take: ":Oil --float src<CR>",
    taken: /╭/,
    give: ":q<CR>",
  }),
  { ...plugin("persistence", ["persistence.nvim"], setup("persistence")), savesSessions: true },
  plugin(
    "snacks",
    ["snacks.nvim"],
    `require("snacks").setup{ indent = { enabled = true }, input = { enabled = true },
      picker = { enabled = true }, notifier = { enabled = true }, scope = { enabled = true },
      scroll = { enabled = true }, statuscolumn = { enabled = true }, words = { enabled = true } }`,
    { take: ":lua Snacks.picker.files()<CR>", taken: "Files", give: "<Esc><Esc>" },
  ),
  {
    ...plugin("snacks, its terminal", ["snacks.nvim"], setup("snacks")),
    ours: `{ terminal = { provider = "snacks" } }`,
  },
  {
    ...plugin("telescope", ["telescope.nvim", "plenary.nvim"], setup("telescope"), {
      take: ":lua require('telescope.builtin').find_files()<CR>",
      taken: "Find Files",
      give: "<Esc><Esc>",
    }),
    newestOnly: true,
  },
  plugin("toggleterm", ["toggleterm.nvim"], setup("toggleterm", "direction = 'float'"), {
    take: ":lua require('toggleterm').toggle(1)<CR>",
    taken: /╭|┌/,
    give: "<C-\\><C-n>:q<CR>",
  }),
  plugin("trouble", ["trouble.nvim"], setup("trouble")),
  plugin("which-key", ["which-key.nvim"], setup("which-key", "delay = 100"), {
    take: "g",
    taken: /Go to|comment|Toggle/i,
    give: "<Esc>",
  }),
  plugin("zen-mode", ["zen-mode.nvim"], setup("zen-mode"), {
    take: ":lua require('zen-mode').open()<CR>",
    taken: "",
    give: ":lua require('zen-mode').close()<CR>",
    stays: true,
  }),
];

export function setupOf(name: string): PluginSetup {
  const found = SETUPS.find((setup) => setup.name === name);
  if (!found) throw new Error(`no setup is named ${name}`);
  return found;
}
