import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, nightly, onEachNeovim, TestNeovim } from "#test";
import { isAlive } from "../../../src/lib/process";
import { commitAll, git as run } from "../../review/repository";
import { World } from "../../review/state/world";

/* `:Claude commit`: git's message in this Neovim. */
onEachNeovim((session, version) => {
  let world: World;
  const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
  const git = (...args: string[]) => run(session.neovim.cwd, ...args).trim();
  const said = async (text: string) =>
    await eventually(text, async () =>
      expect((await lua<string[]>("return _G.said")).join("\n")).toContain(text),
    );
  const index = () => readFileSync(join(session.neovim.cwd, ".git/index"));
  const keys = (typed: string) => lua("vim.api.nvim_input((...))", typed);

  /** Of two hunks the first is kept, and the user has begun a line. */
  beforeEach(async () => {
    const { cwd, home } = session.neovim;
    writeFileSync(join(home, ".gitconfig"), "[user]\nname = n\nemail = a@b\n");
    world = new World(cwd, home);
    const text = "1\n2\n3\n4\n5\n6\n7\n";
    world.write("a", text);
    commitAll(cwd, { a: text });
    world.write("a", "1\n2\n3\nmine\n4\n5\n6\n7\n");
    const prompt = world.prompt("A", "say one in Roman\nas Caesar did");
    world.claude({ a: "I\n2\n3\nmine\n4\n5\n6\nVII\n" }, { prompt });
    world.stop();
    const hunk = (await world.file("a"))?.hunks[0]?.id;
    await world.keep([{ path: world.path("a"), hunks: [hunk] }]);
    await lua("_G.said = {} vim.notify = function(text) table.insert(_G.said, text) end");
    await session.neovim.command("set noswapfile | edit a");
    await session.known();
  });
  afterEach(async () => {
    await session.reset();
    rmSync(join(session.neovim.cwd, ".git"), { recursive: true });
    rmSync(world.folder, { recursive: true, force: true });
    world[Symbol.dispose]();
  });

  const open = async (command = "Claude commit") => {
    await session.neovim.command(command);
    await eventually("git's message", async () =>
      expect(await lua("return vim.bo.filetype")).toBe("gitcommit"),
    );
  };

  test("!, :wq: what is kept is committed with the prompts; the rest is as it was", async () => {
    await open("Claude commit!");
    expect(await lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, 3, true)")).toEqual([
      "say one in Roman",
      "",
      "as Caesar did",
    ]);
    await keys(":xit<CR>");
    await said("] say one in Roman, 1 file changed, 1 insertion(+), 1 deletion(-)");
    expect(git("show", "-s", "--format=%an: %B")).toBe("n: say one in Roman\n\nas Caesar did");
    expect(git("show", "HEAD:a")).toBe("I\n2\n3\n4\n5\n6\n7");
    expect(git("diff", "--cached")).toBe("");
    expect(world.read("a")).toBe("I\n2\n3\nmine\n4\n5\n6\nVII\n");
    expect(await lua("return { vim.fn.winnr('$'), vim.fn.expand('%') }")).toEqual([1, "a"]);
    expect(await world.summary()).toEqual(["a changed 1>1@8"]);
  });

  test.each([
    ["left unwritten", ":quit<CR>", "the message was not written"],
    [
      "with a draft that is thrown away",
      ":w .git/copy<CR>:quit!<CR>",
      "the message was not written",
    ],
    ["written without a word", ":wq<CR>", "empty commit message"],
  ])(
    "%s: nothing is committed, and the index is the same to the byte",
    async (what, typed, words) => {
      const before = index();
      await open(what.includes("draft") ? "Claude commit!" : "Claude commit");
      await session.neovim.command("Claude commit");
      await said("a commit is open already");
      await keys(typed);
      await said(words);
      expect(index().equals(before)).toBe(true);
      expect(git("rev-list", "--count", "HEAD")).toBe("1");
    },
  );

  /** It stands for the CLI, which runs outside of the project. */
  const program = async (text: string) => {
    const path = session.write(
      ".git/claude",
      `#!/bin/sh\ncd ${session.neovim.cwd}/.git\n${text}\n`,
    );
    chmodSync(path, 0o755);
    await lua("require('claude-code').setup({ terminal = { command = (...) } })", path);
  };
  const shows = (lines: string[]) =>
    eventually("the message", async () =>
      expect(await lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")).toEqual(
        expect.arrayContaining(lines),
      ),
    );

  test("Claude's message comes above what is typed meanwhile; what goes wrong is said", async () => {
    await session.neovim.command("Claude commit message");
    await said("this is no message of a commit");
    await open();
    await program("echo no such model >&2; exit 1");
    await keys("gm");
    await said("Claude wrote no message: no such model");
    await program("while [ ! -e go ]; do sleep 0.01; done; printf 'By\\033 Claude'");
    await keys("gmimine<CR>and");
    await shows(["mine", "and"]);
    await session.neovim.command("Claude commit message");
    await said("Claude writes the message already");
    session.write(".git/go", "");
    await shows(["By<1b> Claude", "", "mine", "and"]);
    await keys(" more<Esc>");
    await shows(["By<1b> Claude", "", "mine", "and more"]);
    await keys("uu");
    await eventually("both steps", async () =>
      expect(await lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, 2, true)")).toEqual([
        "mine",
        "and",
      ]),
    );
    await keys(":q!<CR>");
    await said("nothing is committed");
  });

  test("Claude is ended with the message's window", async () => {
    await program("sh -c 'echo $$ > pid; exec sleep 1000'; :");
    await open();
    await keys("gm");
    const pid = await eventually(
      "Claude",
      () => Number(readFileSync(session.path(".git/pid"))) || false,
    );
    await keys(":q<CR>");
    await eventually("its end", () => !isAlive(pid));
  });

  nightly.test.each([
    ["where the executable was killed, what is written then is not committed", true],
    ["where Neovim ends, nothing is committed", false],
  ])("%s", async (_what, isKilled) => {
    const before = index();
    const { cwd, home } = session.neovim;
    await using other = await TestNeovim.start({ version, cwd, home });
    await other.command("set noswapfile | edit a");
    await eventually("its review", async () =>
      expect(await other.lua("return require('claude-code.editor.review').count()")).toBe(1),
    );
    const hook = session.write(
      ".git/hooks/prepare-commit-msg",
      "#!/bin/sh\necho $PPID > .git/pid\n",
    );
    chmodSync(hook, 0o755);
    await other.command("Claude commit");
    await eventually("git's message", async () =>
      expect(await other.lua("return vim.bo.filetype")).toBe("gitcommit"),
    );
    if (isKilled) {
      const children = "return vim.api.nvim_get_proc_children(vim.fn.getpid())";
      const [server = 0] = await other.lua<number[]>(children);
      process.kill(server, "SIGKILL");
      await eventually("its end", () => !isAlive(server));
      await other.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'too late' })");
      await other.command("wq");
    } else {
      await other.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'written' }) vim.cmd.write()");
      await other.lua("vim.schedule(function() vim.cmd('qall!') end)");
    }
    const pid = Number(readFileSync(session.path(".git/pid"), "utf8"));
    await eventually("git's end", () => !isAlive(pid));
    expect(index().equals(before)).toBe(true);
    expect(git("rev-list", "--count", "HEAD")).toBe("1");
  });
});
