import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { NEOVIMS, TestNeovim, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { LATER, openEcho, plays, SCREEN } from "./workbench";

describe.each(NEOVIMS)("a session of $name with Claude's terminal in it", (version) => {
  const folder = temporaryFolder();
  const claude = join(folder, "claude");
  const starts = join(folder, "starts");
  const options = `{ terminal = { command = ${JSON.stringify(claude)} } }`;
  const usual = join(folder, "usual.vim");
  const local = join(folder, "local.vim");

  // A session goes back to its folder.
  const start = (setup: string | false, ...args: string[]) =>
    TestNeovim.start({ version, setup, args, cwd: folder, ui: SCREEN });

  /** The arguments of each CLI that was started. */
  const started = () =>
    existsSync(starts) ? readFileSync(starts, "utf8").trimEnd().split("\n") : [];

  const shows = (neovim: TestNeovim, windows: string) =>
    neovim.plays(`<Ignore>  windows ${windows}`);

  beforeAll(async () => {
    writeFileSync(claude, `#!/bin/sh\necho "$*" >>${starts}\n${LATER}\necho up\nexec cat\n`);
    chmodSync(claude, 0o755);
    for (const file of ["a.txt", "b.txt"]) writeFileSync(join(folder, file), `${file}\n`);
    await using neovim = await start(options);
    for (const file of ["b.txt", "a.txt"]) await neovim.command(`edit ${join(folder, file)}`);
    await openEcho(neovim);
    await neovim.command("vertical resize 50");
    await neovim.lua(`vim.cmd.wincmd("p") vim.cmd.buffer("#") vim.cmd.buffer("#")`);
    await neovim.command(`mksession ${usual}`);
    await neovim.command(`set sessionoptions+=localoptions | mksession ${local}`);
    expect(await neovim.lua("return vim.fn.bufname('#')")).toBe(join(folder, "b.txt"));
    for (const path of [usual, local])
      expect(readFileSync(path, "utf8")).toContain("edit claude-code://terminal");
  });
  beforeEach(() => rmSync(starts, { force: true }));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  const buffers = (neovim: TestNeovim) => neovim.command("ls!");

  test.each([
    ["of the usual 'sessionoptions'", usual],
    ["with local options", local],
  ])("%s starts nothing, and has nothing of Claude's", async (_, path) => {
    const autocommand = "autocmd TermOpen * startinsert";
    await using neovim = await start(options, "--cmd", autocommand, "-S", path);
    await shows(neovim, "a.txt");
    await neovim.plays(`<Ignore>  {bufname()} ${join(folder, "a.txt")}  {v:errmsg} =  mode n`);
    expect(await buffers(neovim)).not.toContain("claude-code:");
    expect(started()).toEqual([]);

    await openEcho(neovim);
    expect(started()).toEqual([expect.stringContaining("--plugin-dir")]);
    await neovim.plays("<Ignore>  windows a.txt terminal  {bufname()} claude-code://terminal");
    // Its temporary name has left no buffer.
    expect(await buffers(neovim)).not.toContain("term://");
  });

  test("shows the Claude that runs when it is read meanwhile", async () => {
    await using neovim = await start(options);
    await openEcho(neovim);
    await neovim.command("wincmd p");
    await neovim.inMode("n");
    await neovim.command(`edit ${join(folder, "a.txt")} | mksession! ${join(folder, "own.vim")}`);
    await neovim.command(`source ${join(folder, "own.vim")}`);
    await plays(neovim, "<Ignore>  windows a.txt terminal  terminal up");
    expect(started()).toHaveLength(1);
  });

  test("starts nothing when it is read before the plugin, and does not interfere later", async () => {
    await using neovim = await start(false, "--cmd", "set noloadplugins", "-S", usual);
    await neovim.plays("<Ignore>  windows a.txt terminal  {v:errmsg} =");
    expect(started()).toEqual([]);
    await neovim.lua(`
      vim.cmd.runtime("plugin/claude-code.lua")
      require("claude-code").setup(${options})`);
    await openEcho(neovim);
    expect(started()).toHaveLength(1);
    await shows(neovim, "a.txt terminal");
  });
});
