import { World } from "#review";
import { eventually, onEachNeovim, TestNeovim } from "#test";

/** Two Neovims of one user in one project, with the same file open. */
onEachNeovim((session, version) => {
  let world: World;
  let other: TestNeovim;
  const both = () => [session.neovim, other];

  beforeEach(async () => {
    const { cwd, home } = session.neovim;
    world = new World(cwd, home);
    other = await TestNeovim.start({ version, cwd, home });
    world.write("a", "1\n2\n3\n");
    for (const neovim of both()) {
      await neovim.command("set noswapfile | edit a");
    }
  });
  afterEach(async () => {
    await other[Symbol.asyncDispose]();
    await session.reset();
    world[Symbol.dispose]();
  });

  const waits = (count: number) =>
    eventually(`${count} to review in both`, async () => {
      for (const neovim of both()) {
        expect(await neovim.lua(`return require("claude-code.editor.review").count()`)).toBe(count);
      }
    });
  /** No Claude is connected here, for which a Neovim watches its files. */
  const settled = (text: string) =>
    eventually("one text everywhere", async () => {
      expect(world.read("a")).toBe(text);
      for (const neovim of both()) {
        const shown = await neovim.lua(`
          vim.cmd("checktime")
          local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr("a"), 0, -1, false)
          return { table.concat(lines, "\\n") .. "\\n", vim.bo[vim.fn.bufnr("a")].modified }`);
        expect(shown).toEqual([text, false]);
      }
    });

  test("undoes the same hunk in both at once, without a question (W12)", async () => {
    world.claude({ a: "1\nII\n3\n" });
    await waits(1);
    await settled("1\nII\n3\n");
    await Promise.all(both().map((neovim) => neovim.command("Claude undo!")));
    await settled("1\n2\n3\n");
    await waits(0);
  });

  test("opens a file that the other one has open read-only, without a question about its swap file", async () => {
    world.write("b", "1\n2\n3\n");
    for (const neovim of both()) {
      await neovim.lua("vim.o.directory = vim.fn.getcwd() .. '//' vim.o.updatecount = 1");
      await neovim.command("setglobal swapfile");
    }
    await other.command("edit b | normal! Amore");
    await other.command("preserve");
    world.claude({ b: "1\nII\n3\n" });
    await session.neovim.plays(`
      :Claude review                    b:2   {&readonly} 1   says b is open in another Neovim   says ! E325
      :bwipeout! b | set noswapfile
    `);
  });
});
