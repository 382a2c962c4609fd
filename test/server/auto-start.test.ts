import { mkdirSync } from "node:fs";
import {
  eventually,
  isolatedEnv,
  NEOVIMS,
  perBlock,
  ROOT,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { join, native, parse } from "../../src/lib/platform";

const FILES: [file: string, program: string][] = [
  [".git/COMMIT_EDITMSG", "git"],
  [".git/MERGE_MSG", "git"],
  [".git/rebase-merge/git-rebase-todo", "git"],
  [".git/addp-hunk-edit.diff", "git"],
  ["./main_LOCAL_4711.lua", "git mergetool"],
  ["/tmp/crontab.XyZ123", "crontab"],
  ["/tmp/crontab.XyZ123/crontab", "crontab"],
  ["/tmp/claude-prompt-5f2a.md", "the Claude CLI's prompt"],
  ["/tmp/neomutt-host-1000-4711-815", "a mail program"],
  ["/tmp/bash-fc.AbCdEf", "the shell's command line"],
  ["/tmp/kubectl-edit-123.yaml", "kubectl edit"],
  ["main.lua", "the user"],
  ["COMMIT_EDITMSG.md", "the user"],
  ["docs/crontab.md", "the user"],
  ["zshrc.zsh/notes", "the user"],
  ["src/claude-prompts.ts", "the user"],
  ["claude-prompt-ideas.md", "the user"],
  ["deploy/crontab", "the user"],
  ["mutt-colors.md", "the user"],
];

const TOP = parse(ROOT).root;

interface Situation {
  state: string;
  why?: string;
  folders: string[];
}

describe.each(NEOVIMS)("auto_start in $name", (version) => {
  const plain = perBlock(() => TestNeovim.start({ version, setup: false }));

  const situation = (neovim: TestNeovim) =>
    neovim.lua<Situation>(`return require("claude-code").status()`);
  const decided = (neovim: TestNeovim) =>
    eventually("a decision", async () => {
      const found = await situation(neovim);
      return (found.state !== "stopped" || found.why !== undefined) && found;
    });

  test.each(FILES)("knows that %s was opened by %s", async (file, program) => {
    await plain.lua(`vim.cmd.args({ args = { vim.fn.fnameescape(...) } })`, file);
    const found = await plain.lua<string>(
      `return require("port").autostart.program() or "the user"`,
    );
    expect(found).toBe(program);
  });

  test.each([
    ["vim.env.CLAUDECODE = '1'", "vim.env.CLAUDECODE = nil", "the Claude CLI"],
    ["vim.env.GIT_DIFF_PATH_COUNTER = '1'", "vim.env.GIT_DIFF_PATH_COUNTER = nil", "git difftool"],
    ["vim.g.vscode = 1", "vim.g.vscode = nil", "VS Code"],
  ])("knows by %s that this is %s", async (set, unset, program) => {
    await plain.command("%argdelete");
    const found = await plain.lua<string>(
      `${set} local found = require("port").autostart.program() ${unset} return found`,
    );
    expect(found).toBe(program);
  });

  test.each([
    ["-", "a pipe"],
    ["+Man!", "man"],
  ])("knows nvim %s as a pager", async (argument, program) => {
    const home = temporaryFolder();
    const says = `io.stdout:write(require("claude-code.server.autostart").program() or "nobody")`;
    const child = Bun.spawn(
      [
        ...[version.binary, "--clean", "--headless", "--cmd", `set runtimepath^=${ROOT}`],
        ...["--cmd", `lua require("claude-code").setup({})`],
        ...["-c", `lua ${says}`, "-c", "qa!", argument],
      ],
      { stdin: new Blob(["text\n"]), stdout: "pipe", stderr: "ignore", env: isolatedEnv(home) },
    );
    expect(await new Response(child.stdout).text()).toBe(program);
  });

  test("publishes nothing in git's commit editor, and gives the reason", async () => {
    await using neovim = await TestNeovim.start({ version, args: ["COMMIT_EDITMSG"] });
    const { state, why } = await decided(neovim);
    expect(state).toBe("stopped");
    expect(why).toBe("this Neovim edits for another program (git)");
    await neovim.command("ClaudeCodeStart"); // the user decides
    expect((await neovim.lock()).content.workspaceFolders).toEqual([native(neovim.cwd)]);
  });

  test("does not publish the home folder, but a project entered from there", async () => {
    const home = temporaryFolder();
    const project = join(home, "project");
    mkdirSync(project);
    await using neovim = await TestNeovim.start({ version, cwd: home, home });
    const { state, why } = await decided(neovim);
    expect(state).toBe("stopped");
    expect(why).toBe("the workspace would be the home folder or one above it");
    const lines = await neovim.lua<string[]>(`return require("port").status_lines()`);
    expect(lines.find((line) => line.includes("workspace"))).toContain("home folder");
    await neovim.command(`cd ${project}`);
    await eventually("a start", async () => (await situation(neovim)).state !== "stopped");
    expect((await situation(neovim)).folders).toEqual([project]);
  });

  test.each([
    ["true", TOP, true, [TOP]],
    ["true", undefined, true, undefined],
    ["false", undefined, false, undefined],
    ['"auto"', TOP, false, []],
  ] as const)("starts by auto_start = %s in %p: %p", async (option, cwd, starts, folders) => {
    await using neovim = await TestNeovim.start({
      version,
      setup: `{ auto_start = ${option} }`,
      ...(cwd && { cwd }),
    });
    const found = await decided(neovim);
    expect(found.state === "stopped").toBe(!starts);
    expect(found.folders).toEqual(folders ? [...folders] : [neovim.cwd]);
  });

  const children = "#vim.api.nvim_get_proc_children(vim.fn.getpid())";
  const state = "require('claude-code').status().state";
  test.each<[string, string[], string, unknown]>([
    ["starts nothing by setup() before Neovim is up", [], children, 0],
    ["starts the server at once by a command", ["-c", "ClaudeCodeStart"], state, "starting"],
  ])("%s", async (_, command, expression, early) => {
    const args = [...command, "-c", `lua EARLY = ${expression}`];
    await using neovim = await TestNeovim.start({ version, args });
    await neovim.lock();
    expect(await neovim.lua<unknown>("return EARLY")).toBe(early);
  });
});
