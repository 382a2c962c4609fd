import { expect, setDefaultTimeout } from "bun:test";
import type { PluginName } from "../../bench/plugins/archives";
import { Editor, TEXT } from "../../bench/plugins/editor";
import { testWithPlugins } from "../../bench/plugins/only-with-plugins";
import { recipe } from "../../bench/plugins/recipes";
import { World } from "../review/state/world";
import { eventually } from "../support/eventually";
import { NEOVIMS } from "../support/neovim";

/* The review in plugins that compare a file with another text, by the recipes of the help. */

setDefaultTimeout(60_000);

/** Two hunks of Claude's: in the first function, and in the last. */
const CLAUDES = TEXT.replace("a + b", "a * b").replace(/return sum\nend\n\n$/, "return 0\nend\n\n");
const LAST = TEXT.split("\n").length - 3;

for (const version of NEOVIMS) {
  const review = (
    name: PluginName,
    what: string,
    lua: string,
    run: (editor: Editor, world: World) => Promise<void>,
    ...others: PluginName[]
  ) =>
    testWithPlugins(`${name}: ${what} (${version.name})`, async () => {
      await using editor = await Editor.start(version, { name, plugins: [name, ...others], lua });
      using world = new World(editor.neovim.cwd, editor.neovim.home);
      // The user's own change, which is not to be reviewed.
      editor.write("src/main.lua", `-- mine\n${TEXT}`);
      world.claude({ "src/main.lua": `-- mine\n${CLAUDES}` });
      await editor.neovim.command("silent checktime");
      await run(editor, world);
    });

  review(
    "gitsigns.nvim",
    "compares with the base, also after a decision",
    `require("gitsigns").setup()`,
    async (editor, world) => {
      const rows = () =>
        editor.neovim.lua<number[]>(`
          return vim.tbl_map(function(hunk)
            return hunk.added.start
          end, require("gitsigns").get_hunks(0) or {})`);
      await eventually("git's hunks", async () => expect(await rows()).toContain(1));
      await editor.neovim.lua(recipe("gitsigns.nvim").join("\n"));
      await eventually("Claude's hunks", async () => expect(await rows()).toEqual([3, LAST + 1]));
      const path = world.path("src/main.lua");
      await world.keep([{ path, range: [3, 3] }]);
      await eventually("the rest", async () => expect(await rows()).toEqual([LAST + 1]));
      await editor.neovim.lua('require("claude-code.review").base_ref()');
      await editor.neovim.command("Gitsigns reset_base true");
      await world.keep([{ path }]);
      await eventually("git's hunks", async () => expect(await rows()).toEqual([1, 3, LAST + 1]));
    },
  );

  review(
    "diffview.nvim",
    "opens the files of the review",
    `require("diffview").setup({ use_icons = false })
     vim.api.nvim_create_autocmd("User", {
       pattern = "DiffviewDiffBufWinEnter", callback = function() OPENED = true end })`,
    async (editor) => {
      await editor.neovim.lua(recipe("diffview.nvim").join("\n"));
      await eventually("the view", () => editor.neovim.lua<boolean>("return OPENED or false"));
      const sides = await eventually("both sides", async () => {
        const found = await editor.neovim.lua<string[]>(`
          local texts = {}
          for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
            if vim.wo[win].diff then
              local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
              texts[#texts + 1] = table.concat(lines, "\\n") .. "\\n"
            end
          end
          return texts`);
        expect(found).toHaveLength(2);
        expect(found[0]).toContain("-- mine");
        return found;
      });
      expect(sides).toEqual([`-- mine\n${TEXT}`, `-- mine\n${CLAUDES}`]);
    },
    "plenary.nvim",
  );

  const bar = ({ neovim }: Editor) => neovim.lua<string>("return vim.wo.winbar");
  const isOurs = (editor: Editor) =>
    eventually("our bar", async () => expect(await bar(editor)).toContain("hunk 1/2"));

  /** The plugin's bar changes while the review is on, and is there again after it. */
  const winbar = (name: PluginName, setup: string, refresh: string) =>
    review(
      name,
      "its winbar comes back as the plugin has set it last",
      `function _G.Bar() return "bar " .. (_G.bar_version or 1) end\n${setup}`,
      async (editor) => {
        const { neovim } = editor;
        const shown = async () => {
          const text = await bar(editor);
          return await neovim.lua<string>(
            "return vim.api.nvim_eval_statusline(..., { use_winbar = true }).str",
            text,
          );
        };
        await neovim.command("doautocmd BufWinEnter | doautocmd WinEnter");
        await eventually("the plugin's bar", async () => expect(await shown()).toContain("bar 1"));
        await neovim.command("Claude review!");
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
