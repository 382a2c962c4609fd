import { World } from "#review";
import { eventually, NEWEST } from "#test";
import { type PluginName, testWithPlugins } from "../../bench/plugins/archives";
import { Editor } from "../../bench/plugins/editor";

/** Plugins, their setup, and Lua code that counts the rows of a picker once it waits for keys. Telescope needs 0.11. */
const PICKERS: [plugins: PluginName[], setup: string, count: string][] = [
  [
    ["snacks.nvim"],
    `require("snacks").setup({ picker = {} })`,
    `local picker = Snacks.picker.get()[1]
     return picker and not picker:is_active() and picker.list:count() or -1`,
  ],
  [
    ["telescope.nvim", "plenary.nvim"],
    `require("telescope").setup({})`,
    `local state = require("telescope.actions.state")
     local picker = state.get_current_picker(vim.api.nvim_get_current_buf())
     local is_ready = picker and picker.manager and vim.api.nvim_get_mode().mode == "i"
     return is_ready and picker:get_selection() and picker.manager:num_results() or -1`,
  ],
];

for (const [plugins, lua, count] of PICKERS) {
  testWithPlugins(`:Claude review pick lists Claude's changes by ${plugins[0]}`, async () => {
    await using editor = await Editor.start(NEWEST, { name: "a picker", plugins, lua });
    const { neovim } = editor;
    using world = new World(neovim.cwd, neovim.home);
    world.edited("a", "gone\n", undefined);
    world.edited("b", "1\n2\n3\n", "one\n2\nthree\n");
    await neovim.plays(":Claude review!   list 3   {&buftype} quickfix");
    await neovim.command("Claude review pick");
    await eventually("its rows", async () => (await neovim.lua<number>(count)) === 3);
    await neovim.type("<C-n><CR>");
    await neovim.plays(`
      <Ignore>                   bar hunk   windows other.lua b quickfix
      :Claude review pick foo    says no such picker: foo (snacks, telescope, fzf-lua)
      :Claude review pick fzf-lua   says fzf-lua is not installed`);
  });
}
