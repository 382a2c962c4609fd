import { World } from "#review";
import { eventually, NEOVIMS } from "#test";
import { type PluginName, testWithPlugins } from "../../bench/plugins/archives";
import { Editor, TEXT } from "../../bench/plugins/editor";

/* The review's bar beside those of plugins. */

/** Two hunks by Claude: in the first function, and in the last. */
const CLAUDES = TEXT.replace("a + b", "a * b").replace(/return sum\nend\n\n$/, "return 0\nend\n\n");

for (const version of NEOVIMS) {
  const bar = ({ neovim }: Editor) => neovim.lua<string>("return vim.wo.winbar");
  const isOurs = (editor: Editor) =>
    eventually("our bar", async () => expect(await bar(editor)).toContain("hunk 1/2"));

  /** The plugin's bar changes during the review, and is restored after it. */
  const winbar = (name: PluginName, setup: string, refresh: string) =>
    testWithPlugins(
      `${name}: its winbar comes back as the plugin last set it (${version.name})`,
      async () => {
        const lua = `function _G.Bar() return "bar " .. (_G.bar_version or 1) end\n${setup}`;
        await using editor = await Editor.start(version, { name, plugins: [name], lua });
        using world = new World(editor.neovim.cwd, editor.neovim.home);
        // The user's own change, which is not to be reviewed.
        editor.write("src/main.lua", `-- mine\n${TEXT}`);
        world.claude({ "src/main.lua": `-- mine\n${CLAUDES}` });
        const { neovim } = editor;
        await neovim.command("silent checktime");
        const shown = async () =>
          neovim.lua<string>(
            "return vim.api.nvim_eval_statusline(..., { use_winbar = true }).str",
            await bar(editor),
          );
        await neovim.command("doautocmd BufWinEnter | doautocmd WinEnter");
        await eventually("the plugin's bar", async () => expect(await shown()).toContain("bar 1"));
        await neovim.command("Claude review");
        await isOurs(editor);
        await neovim.lua(`_G.bar_version = 2\n${refresh}`);
        await Bun.sleep(300);
        await isOurs(editor);
        await neovim.command("Claude review close");
        await eventually("its bar", async () => expect(await shown()).toContain("bar 2"));
        await neovim.command("split | edit other.txt | bprevious");
        await eventually("its bar in a split", async () =>
          expect(await shown()).toContain("bar 2"),
        );
      },
    );

  winbar(
    "lualine.nvim",
    `require("lualine").setup({
       options = { icons_enabled = false, refresh = { winbar = 50 } },
       winbar = { lualine_c = { Bar } }, inactive_winbar = { lualine_c = { Bar } },
     })`,
    'require("lualine").refresh({ place = { "winbar" } })',
  );
  winbar(
    "heirline.nvim",
    `require("heirline").setup({ winbar = { provider = Bar } })`,
    "vim.wo.winbar = \"%{%v:lua.require'heirline'.eval_winbar()%}\"",
  );
}
