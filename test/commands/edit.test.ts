import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { claims, EXECUTABLE, eventually, isolatedEnv, needs, onEachNeovim } from "#test";
import { basename, join } from "../../src/lib/platform";

/* `claude-code-nvim edit`, which the CLI and its child processes start as $VISUAL. */
onEachNeovim((session) => {
  const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
  const plays = (script: string) => session.neovim.plays(script, { folder: "/" });
  const name = () => lua<string>("return vim.fs.basename(vim.api.nvim_buf_get_name(0))");
  let env: Record<string, string>;
  let editor: string;

  beforeEach(async () => {
    await session.known();
    await session.reset();
    const temporary = join(session.neovim.home, "tmp");
    mkdirSync(temporary, { recursive: true });
    editor = session.write("my editor", '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/edited"\n');
    chmodSync(editor, 0o755);
    env = {
      ...isolatedEnv(session.neovim.home),
      NVIM: await lua<string>("return vim.v.servername"),
      TMPDIR: temporary,
      CLAUDE_CODE_NVIM_EDITOR: `'${editor}' -x`,
    };
  });
  afterEach(() => lua("vim.cmd('silent! only!')"));

  const edited = () => {
    const path = join(session.neovim.home, "edited");
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };
  const run = (args: string[], more: Record<string, string> = {}) =>
    Bun.spawn([EXECUTABLE, "edit", ...args], { cwd: session.neovim.cwd, env: { ...env, ...more } });
  const temporary = (file: string, text: string) => {
    const path = join(env.TMPDIR ?? "", file);
    writeFileSync(path, text);
    return path;
  };
  const PROMPT = "claude-prompt-6a14035a-a165-4b1f-a000-29d9e074ba4b.md";

  test("waits for the prompt's window, and leaves the user's windows as they were", async () => {
    const path = temporary(PROMPT, "begun");
    const program = run(["-g", `${path}:1`]);
    await plays(`<Ignore>  ${PROMPT}:*  windows 2  {&filetype} markdown`);
    expect(program.exitCode).toBeNull();
    await lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'all', 'of it' }) vim.cmd.wq()");
    expect(await program.exited).toBe(0);
    expect(readFileSync(path, "utf8").replaceAll("\r", "")).toBe("all\nof it\n");
    await plays("<Ignore>  windows 1");
    expect(edited()).toBeUndefined();
  });

  test("keeps the text as a draft for the next Claude if its own has ended", async () => {
    const before = await lua<number>("return #vim.api.nvim_list_chans()");
    const path = temporary(PROMPT, "begun");
    const program = run([path]);
    await plays(`<Ignore>  ${PROMPT}:*`);
    program.kill("SIGKILL");
    await plays(`
      <Ignore>                            {nvim_list_chans()->len()} ${before}
      :call setline(1, 'all of it') | wq  disk ${path} absent
      :Claude prompt                      lines = all of it
      :%delete | quit
    `);
  });

  test("opens the conversation as text, and does not wait", async () => {
    const program = run([temporary("cc-transcript-0af3.txt", "❯ hi\n")]);
    expect(await program.exited).toBe(0);
    expect(await name()).toBe("cc-transcript-0af3.txt");
  });

  test.each(["CLAUDE.md", ".claude/plans/a-plan.md"])(
    "waits for %s in a window of files",
    async (file) => {
      const path = file.startsWith(".") ? join(session.neovim.home, file) : session.path(file);
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, "# x\n");
      const program = run(["-g", `${path}:1`]);
      await eventually("the file", async () => basename(path) === (await name()));
      await lua("vim.cmd.enew()");
      expect(await program.exited).toBe(0);
    },
  );

  test.each([
    ["a file with unsaved edits", "open.txt"],
    ["the message of another program's commit", ".git/COMMIT_EDITMSG"],
  ])("does not open with --commit %s", async (_what, file) => {
    claims("Claude's `$VISUAL` opens only Claude's own files");
    const path = await session.open(file, "one\n");
    await lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'unsaved' })");
    const program = run(["--commit", "1", path], { CLAUDECODE: "1" });
    expect(await program.exited).toBe(1);
    expect(
      await lua(
        "return { vim.fn.getline(1), vim.bo.modified, vim.bo.bufhidden, vim.fn.winnr('$') }",
      ),
    ).toEqual(["unsaved", true, "", 1]);
    await eventually("the reason", async () =>
      expect(await lua<string>("return vim.fn.execute('messages')")).toContain("was not opened"),
    );
    await lua("vim.cmd('edit!')");
  });

  describe("the user's own editor opens everything that is not the CLI's", () => {
    const EDITOR = (file: string) => `-x\n${file}\n`;

    needs("a shell").each<[string, (loop: string) => string]>([
      ["is ourselves", () => `${EXECUTABLE} edit`],
      ["starts us", (loop) => loop],
    ])("opens `vi` if the user's editor %s", async (_what, editorOf) => {
      const message = session.write(".git/COMMIT_EDITMSG", "");
      const counted = session.path("count");
      const loop = session.write(
        "loop",
        `#!/bin/sh\necho >> '${counted}'\n[ "$(wc -l < '${counted}')" -lt 3 ] && exec '${EXECUTABLE}' edit "$@"\n`,
      );
      const vi = session.write("bin/vi", readFileSync(editor, "utf8"));
      for (const path of [loop, vi]) chmodSync(path, 0o755);
      const PATH = `${join(vi, "..")}:${process.env.PATH}`;
      const program = run([message], { PATH, CLAUDE_CODE_NVIM_EDITOR: editorOf(loop) });
      expect(await program.exited).toBe(0);
      expect(edited()).toBe(`${message}\n`);
    });

    needs("a shell").each<[string, () => string, Record<string, string>]>([
      ["git's message", () => session.write(".git/COMMIT_EDITMSG", ""), {}],
      ["a file of that name elsewhere", () => session.write(PROMPT, ""), {}],
      ["a prompt that Claude's shell opens", () => temporary(PROMPT, ""), { CLAUDECODE: "1" }],
      ["without a Neovim", () => temporary(PROMPT, ""), { NVIM: "/nowhere", HOME: "/nowhere" }],
    ])("%s", async (_what, make, more) => {
      claims("Claude's `$VISUAL` opens only Claude's own files");
      const path = make();
      const home = more.HOME ? { ...isolatedEnv(session.path("home")), ...more } : more;
      mkdirSync(session.path("home"), { recursive: true });
      const program = run([path], { ...home, HOME: session.neovim.home });
      expect(await program.exited).toBe(0);
      expect(edited()).toBe(EDITOR(path));
    });
  });
});
