import { eventually, NEOVIMS, setDefaultTimeout } from "#test";
import { testWithPlugins } from "../../bench/plugins/archives";
import { Editor } from "../../bench/plugins/editor";

/* Diffs while Claude runs in a terminal of snacks.nvim. */
setDefaultTimeout(120_000);

const start = (version: (typeof NEOVIMS)[number], terminal: string) =>
  Editor.start(version, {
    name: "a terminal of snacks.nvim",
    plugins: ["snacks.nvim"],
    lua: `require("snacks").setup({})`,
    ours: `{ terminal = { provider = "snacks", ${terminal} } }`,
  });

/** Width of Claude's window in this tab page, or 0 without one. */
const CLAUDE = `
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if require("port").window.is_terminal(win) then return vim.api.nvim_win_get_width(win) end
  end
  return 0`;

for (const version of NEOVIMS) {
  testWithPlugins(`that floats gives way to a diff (${version.name})`, async () => {
    await using editor = await start(version, 'position = "float"');
    const claude = () => editor.neovim.lua<number>(CLAUDE);
    const before = await editor.settled();
    for (const keys of [[], ["<C-\\><C-n>"]]) {
      await editor.neovim.type(":Claude<CR>");
      await editor.shows("CLAUDE IS UP");
      await editor.waitForMode("t");
      for (const key of keys) await editor.neovim.type(key);
      const rejected = editor.propose();
      await editor.shown();
      await eventually("no float", async () => (await claude()) === 0);
      await editor.shows("accept");
      await editor.neovim.type("q");
      expect(await rejected).toBe("DIFF_REJECTED");
      await editor.noDiff();
      await editor.same(before);
    }
  });

  testWithPlugins(
    `at the side keeps its columns beside a diff, and :qa there ends Neovim (${version.name})`,
    async () => {
      await using editor = await start(version, 'position = "right"');
      const claude = () => editor.neovim.lua<number>(CLAUDE);
      await editor.neovim.type(":Claude<CR>");
      await editor.shows("CLAUDE IS UP");
      await editor.waitForMode("t");
      const width = await claude();
      const before = await editor.settled();
      const rejected = editor.propose();
      await editor.shown();
      expect(await editor.neovim.lua<number>("return vim.fn.tabpagenr('$')")).toBe(1);
      expect(await claude()).toBe(width);
      await editor.neovim.type("q");
      expect(await rejected).toBe("DIFF_REJECTED");
      await editor.noDiff();
      await editor.same(before);
      await editor.neovim.command("Claude");
      await eventually("a hidden terminal", async () => (await claude()) === 0);
      await editor.neovim.command("Claude");
      await eventually("its width", async () => expect(await claude()).toBe(width));
      await editor.waitForMode("t");
      editor.neovim.request("nvim_input", ["<C-\\><C-n>:qa<CR>"]).catch(() => {});
      await eventually("the end of Neovim", () => editor.neovim.process.exitCode === 0);
    },
  );

  testWithPlugins(`several take the same place (${version.name})`, async () => {
    await using editor = await start(version, 'position = "right"');
    const shown = () =>
      editor.neovim.lua<number[]>(`
        local numbers = {}
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          for _, row in ipairs(require("port").session_list.own()) do
            if row.buf == vim.api.nvim_win_get_buf(win) then table.insert(numbers, row.n) end
          end
        end
        return numbers`);
    const shows = (n: number) =>
      eventually(`session ${n} alone`, async () => expect(await shown()).toEqual([n]));
    const claude = () => editor.neovim.lua<number>(CLAUDE);
    const before = await editor.settled();
    await editor.neovim.command("Claude");
    await editor.shows("CLAUDE IS UP");
    await shows(1);
    const width = await claude();
    await editor.neovim.command("Claude new");
    await shows(2);
    expect(await claude()).toBe(width);
    await editor.neovim.command("1ClaudeCode");
    await shows(1);
    expect(await claude()).toBe(width);
    await editor.neovim.command("Claude close");
    await editor.neovim.command("Claude");
    await shows(2);
    await editor.neovim.command("Claude close");
    await editor.neovim.command("stopinsert");
    await eventually("all as before", async () => {
      await editor.same(before);
      return true;
    });
  });
}
