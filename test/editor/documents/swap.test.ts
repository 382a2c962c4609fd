import { eventually, NEOVIMS } from "#test";
import { Attached } from "../attached";

describe.each(NEOVIMS)("$name", (version) => {
  const UI = { width: 120, height: 40 };
  const SWAPS = "vim.o.directory = vim.fn.getcwd() .. '//' vim.o.updatecount = 1";
  /** Two Neovims with the same swap folder; the other Neovim has main.txt open. */
  const both = async () => {
    const a = await Attached.asNew({ version, ui: UI });
    const path = a.file("main.txt", "one\n");
    const other = await Attached.asNew({ version, cwd: a.nvim.cwd });
    await a.nvim.lua(SWAPS);
    await other.nvim.lua(SWAPS);
    await other.edit(path);
    await other.nvim.command("normal! Amore");
    await other.nvim.command("preserve");
    await a.edit(a.file("notes.txt", "notes\n"));
    await a.attach();
    const dispose = async () => {
      // A killed Neovim would not answer.
      if (other.nvim.process.exitCode === null && other.nvim.process.signalCode === null)
        await other.nvim.command("set nomodified");
      await other[Symbol.asyncDispose]();
      await a[Symbol.asyncDispose]();
    };
    return { a, other, path, [Symbol.asyncDispose]: dispose };
  };
  const crash = async (other: Attached) => {
    other.nvim.process.kill("SIGKILL");
    await other.nvim.quit();
  };
  const opens = (a: Attached, path: string, front = true) =>
    a.call("document_open", { path, front, select_to_eol: false });

  for (const front of [false, true]) {
    test(`open in another Neovim, front ${front}: read-only, said once with its process`, async () => {
      await using opened = await both();
      const { a, other, path } = opened;
      await opens(a, path, front);
      await opens(a, path, front);
      const text = `main.txt is open in another Neovim (process ${other.nvim.process.pid}): opened read-only; close it there, then :e`;
      await a.says(text);
      expect((await a.messages()).split(text).length).toBe(2);
      expect(await a.nvim.asks()).toBe(false);
      await a.plays(
        front ? "<Ignore>  main.txt:*  {&readonly} 1" : "<Ignore>  notes.txt:*  {&readonly} 0",
      );
      // Neovim itself shows W325 if the same user has the file open in another Neovim.
      await a.nvim.type(":edit main.txt<CR>");
      await eventually("W325", async () => {
        await a.nvim.type("<CR>");
        const { pid } = other.nvim.process;
        expect(await a.messages()).toContain(`W325: Ignoring swapfile from Nvim process ${pid}`);
      });
      await a.plays("<Ignore>  main.txt:*  {&readonly} 0");
    });
  }

  test("makes the buffer writable once the other Neovim ends", async () => {
    await using opened = await both();
    const { a, other, path } = opened;
    await opens(a, path);
    await a.plays("<Ignore>  main.txt:*  {&readonly} 1");
    await other.nvim.command("set nomodified");
    await other.nvim.quit();
    await a.plays(":doautocmd FocusGained  main.txt:*  {&readonly} 0");
  });

  test("reports the swap file of a crash, and lets Neovim ask once the user opens the file", async () => {
    await using opened = await both();
    const { a, other, path } = opened;
    await crash(other);
    await opens(a, path, false);
    await a.says(
      "main.txt has a crashed editor's swap file: opened read-only; :e recovers it (E325)",
    );
    await a.call("document_reload", { path: a.file("main.txt", "") });
    expect(await a.nvim.asks()).toBe(false);
    // Do not type this: 0.12 would report the question's mode while the command is typed.
    await a.nvim.lua('vim.schedule(function() pcall(vim.cmd.edit, "main.txt") end)');
    await eventually("the question", async () => expect(await a.nvim.asks()).toBe(true));
    await a.nvim.type("e");
    await eventually("the answer", async () => {
      if (await a.nvim.asks()) await a.nvim.type("<CR>");
      expect(await a.nvim.asks()).toBe(false);
    });
    await a.plays("<Ignore>  main.txt:*  {&readonly} 0  says E325");
  });

  test("ignores the swap file of another file with the same name", async () => {
    await using opened = await both();
    const { a, other } = opened;
    for (const one of [a, other]) await one.nvim.lua("vim.o.directory = vim.fn.getcwd()");
    await other.edit(a.file("x/same.txt", "x\n"));
    await opens(a, a.file("y/same.txt", "y\n"));
    await a.plays("<Ignore>  same.txt:*  {&readonly} 0");
  });
});
