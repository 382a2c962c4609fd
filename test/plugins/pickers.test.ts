import { World } from "#review";
import { eventually, NEOVIMS, NEWEST, type NeovimVersion } from "#test";
import { type PluginName, testWithPlugins } from "../../bench/plugins/archives";
import { Editor, TEXT } from "../../bench/plugins/editor";

/* :Claude review pick, by the pickers of other plugins. */

const CLAUDES = TEXT.replace("a + b", "a * b").replace(/return sum\nend\n\n$/, "return 0\nend\n\n");

/** `count` is Lua code that counts the shown rows, once the picker waits for keys. */
async function picks(version: NeovimVersion, plugins: PluginName[], lua: string, count: string) {
  const name = plugins[0] as PluginName;
  await using editor = await Editor.start(version, { name, plugins, lua });
  const { neovim } = editor;
  using world = new World(neovim.cwd, neovim.home);
  editor.write("src/main.lua", TEXT);
  editor.write("src/gone.lua", "gone\n");
  const prompt = world.prompt("S", "tidy up");
  world.claude({ "src/main.lua": CLAUDES, "src/gone.lua": undefined }, { session: "S", prompt });
  await neovim.command("silent checktime");
  await neovim.command("Claude review pick");
  await eventually("its rows", async () => expect(await neovim.lua<number>(count)).toBe(3));
  // The first row is that of the deleted file.
  await neovim.type("<CR>");
  const shown = "return vim.fn.bufname()";
  await eventually("its text", async () =>
    expect(await neovim.lua(shown)).toMatch(/^claude-code:\/\/base.*gone\.lua$/),
  );
}

for (const version of NEOVIMS) {
  testWithPlugins(`snacks.nvim lists Claude's changes (${version.name})`, () =>
    picks(
      version,
      ["snacks.nvim"],
      `require("snacks").setup({ picker = {} })`,
      `local picker = Snacks.picker.get()[1]
       return picker and not picker:is_active() and picker.list:count() or -1`,
    ),
  );
}

// It needs Neovim 0.11.
testWithPlugins("telescope.nvim lists Claude's changes", () =>
  picks(
    NEWEST,
    ["telescope.nvim", "plenary.nvim"],
    `require("telescope").setup({})`,
    `local state = require("telescope.actions.state")
     local picker = state.get_current_picker(vim.api.nvim_get_current_buf())
     local is_ready = picker and picker.manager and vim.api.nvim_get_mode().mode == "i"
     return is_ready and picker:get_selection() and picker.manager:num_results() or -1`,
  ),
);
