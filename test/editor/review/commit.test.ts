import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { commitAll, git as run, World } from "#review";
import { eventually, nightly, onEachNeovim, TestNeovim } from "#test";
import { join } from "../../../src/lib/platform";
import { isAlive } from "../../../src/lib/process";

/* `:Claude commit`: git's message in this Neovim. */
onEachNeovim((session, version) => {
  let world: World;
  const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
  const git = (...args: string[]) => run(session.neovim.cwd, ...args).trim();
  const plays = (script: string) => session.neovim.plays(script);
  const index = () => readFileSync(join(session.neovim.cwd, ".git/index"));

  /** The first of two hunks is kept, and the user has begun a line. */
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
    await session.neovim.command("messages clear");
    await session.neovim.command("set noswapfile | edit a");
    await session.known();
  });
  afterEach(async () => {
    await session.reset();
    rmSync(join(session.neovim.cwd, ".git"), { recursive: true });
    rmSync(world.folder, { recursive: true, force: true });
    world[Symbol.dispose]();
  });

  const open = (command = "Claude commit") => plays(`:${command}  {&filetype} gitcommit`);

  test("commits what is kept with the prompts, and leaves the rest", async () => {
    await open("Claude commit!");
    await plays(`
      <Ignore>    {getline(1, 3)} ['say one in Roman', '', 'as Caesar did']
      :xit<CR>    says ] say one in Roman, 1 file changed, 1 insertion(+), 1 deletion(-)
                  windows a
    `);
    expect(git("show", "-s", "--format=%an: %B")).toBe("n: say one in Roman\n\nas Caesar did");
    expect(git("show", "HEAD:a")).toBe("I\n2\n3\n4\n5\n6\n7");
    expect(git("diff", "--cached")).toBe("");
    expect(world.read("a")).toBe("I\n2\n3\nmine\n4\n5\n6\nVII\n");
    expect(await world.summary()).toEqual(["a changed 1>1@8"]);
  });

  test.each([
    ["left unwritten", ":quit<CR>", "the message was not written"],
    ["with a draft, thrown away", ":w .git/c<CR>:quit!<CR>", "the message was not written"],
    ["written without a word", ":wq<CR>", "empty commit message"],
  ])("commits nothing, %s", async (what, typed, words) => {
    const before = index();
    await open(what.includes("draft") ? "Claude commit!" : "Claude commit");
    await plays(`
        :Claude commit   says a commit is open already
        ${typed}         says ${words}
      `);
    expect(index().equals(before)).toBe(true);
    expect(git("rev-list", "--count", "HEAD")).toBe("1");
  });

  /** A stand-in for the CLI, which runs outside of the project. */
  const program = async (text: string) => {
    const script = `#!/bin/sh\ncd ${session.neovim.cwd}/.git\n${text}\n`;
    const path = session.write(".git/claude", script);
    chmodSync(path, 0o755);
    await lua("require('claude-code').setup({ terminal = { command = (...) } })", path);
  };
  test("puts Claude's message above text typed in the meantime, and reports failures", async () => {
    await plays(":Claude commit message  says this is not a commit message");
    await open();
    await program("echo no such model >&2; exit 1");
    await plays("gm  says Claude wrote no message: no such model");
    await program("while [ ! -e go ]; do sleep 0.01; done; printf 'By\\033 Claude'");
    await plays(`
      gmimine<CR>and          lines mine|and|
      <C-o>:Claude commit message<CR>  says Claude is already writing the message
    `);
    session.write(".git/go", "");
    await plays(`
      <Ignore>      lines By<1b> Claude||mine|and|
      <Space>more<Esc>   lines By<1b> Claude||mine|and more|
      uu            {getline(1, 2)} ['mine', 'and']
      :q!<CR>       says nothing is committed
    `);
  });

  test("ends Claude with the message's window", async () => {
    await program("sh -c 'echo $$ > pid; exec sleep 1000'; :");
    await open();
    await session.neovim.type("gm");
    const written = () => Number(readFileSync(session.path(".git/pid"))) || false;
    const pid = await eventually("Claude", written);
    await session.neovim.type(":q<CR>");
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
    await other.plays("<Ignore>  {v:lua.require('claude-code.editor.review').count()} 1");
    const script = "#!/bin/sh\necho $PPID > .git/pid\n";
    chmodSync(session.write(".git/hooks/prepare-commit-msg", script), 0o755);
    await other.command("Claude commit");
    await other.plays("<Ignore>  {&filetype} gitcommit");
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
