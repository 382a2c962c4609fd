import { NEOVIMS } from "#test";
import { type PluginName, testWithPlugins } from "../../bench/plugins/archives";
import { Editor } from "../../bench/plugins/editor";

/* :Claude mention in lists of other plugins. */

const BOTH = ["main.lua", "other.lua"];

/** Puts the cursor on the first line with this text, once it is there, and mentions it. */
async function mention(editor: Editor, text: string, range = ""): Promise<void> {
  await editor.neovim.until(`a line with ${text}`, "return vim.fn.search(..., 'cw') > 0", text);
  await editor.neovim.command(`${range}Claude mention`);
}

for (const version of NEOVIMS) {
  const list = (
    name: PluginName,
    what: string,
    lua: string,
    run: (editor: Editor) => Promise<void>,
  ) =>
    testWithPlugins(`${name}: ${what} (${version.name})`, async () => {
      await using editor = await Editor.start(version, { name, plugins: [name], lua });
      await run(editor);
    });

  list(
    "trouble.nvim",
    "the lines of an entry, the file of a heading",
    `require("trouble").setup({})`,
    async (editor) => {
      await editor.neovim.lua(`
        vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
          { lnum = 1, col = 0, end_lnum = 2, end_col = 3, message = "wrong here" },
        })
        require("trouble").open({ mode = "diagnostics", focus = true })`);
      await mention(editor, "wrong here");
      await editor.mentioned(["main.lua"], { lineStart: 1, lineEnd: 2 });
      await mention(editor, "main\\.lua");
      await editor.mentioned(["main.lua"]);
    },
  );

  list(
    "snacks.nvim",
    "its explorer's entry, a range, and what is selected",
    `require("snacks").setup({})`,
    async (editor) => {
      await editor.neovim.lua(`Snacks.explorer({ cwd = "src" })`);
      await editor.neovim.until(
        "the explorer",
        `PICKER = Snacks.picker.get({ source = "explorer" })[1]
          return PICKER ~= nil and PICKER.list:count() >= 3`,
      );
      await editor.neovim.lua(`PICKER:focus("list")`);
      await mention(editor, "other\\.lua");
      await editor.mentioned(["other.lua"]);
      await mention(editor, "main\\.lua", ".,+1");
      await editor.mentioned(BOTH);
      await editor.neovim.lua(`PICKER.list:select_all()`);
      await editor.neovim.command("Claude mention");
      await editor.mentioned(["", ...BOTH]);
    },
  );
}
