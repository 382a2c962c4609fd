import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliArguments } from "../../src/claude/cli-arguments";
import { Claude } from "../support/claude";
import { isolatedEnv } from "../support/claude-home";
import { Model } from "../support/model";
import type { Block } from "../support/model-answer";
import { type ModelRequest, newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { EXECUTABLE, NEOVIMS } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { lockFiles } from "./lock-file";
import { Neovim } from "./neovim";

/*
 * The review's whole path with the genuine CLI (Claude Code 2.1.330) and a real Neovim: what the CLI
 * changes, what the user sees and decides, and what the model receives of that. Only the model is a
 * stand-in. The steps follow each other.
 */
const STEP_MS = 120_000;
/** A dozen calls of tools, each with its hooks, on a busy machine. */
const TURN_MS = 60_000;

requireNamespace();

const MAIN = "local one = 1\nlocal two = 2\nlocal three = 3\n";
const FILES: Record<string, string> = {
  "main.lua": MAIN,
  "crlf.txt": "one\r\ntwo\r\n",
  "gone.txt": "gone\n",
  "old.txt": "old 1\nold 2\n",
  "mine.txt": "a\nb\nc\n",
};
const settings = cliArguments(EXECUTABLE).settings_with_hooks;

const bash = (command: string): Block[] => [{ tool: "Bash", input: { command, description: "d" } }];
const write = (path: string, content: string): Block[] => [
  { tool: "Write", input: { file_path: path, content } },
];

describe.each(NEOVIMS)("$name", (version) => {
  let root: string;
  let project: string;
  let home: string;
  let neovim: Neovim;
  let claude: Claude;
  const model = new Model();
  const path = (name: string) => join(project, name);
  const text = (name: string) => Bun.file(path(name)).text();
  const command = (line: string) => neovim.lua(`vim.cmd([[${line}]]) return true`);
  const count = () => neovim.lua<number>(`return require("claude-code.editor.review").count()`);
  const list = () =>
    neovim.lua<string[]>(`
      return vim.tbl_map(function(item)
        local name = item.module ~= "" and item.module or vim.fn.bufname(item.bufnr)
        return vim.fn.fnamemodify(name, ":.") .. ":" .. item.lnum .. " " .. item.text
      end, vim.fn.getqflist())`);
  /** The agent runs beside the session that has started it (2.1.330): who asks first is not known. */
  const bySubagent = (request: ModelRequest): Block[] => {
    const isSub = JSON.stringify(request.messages[0]).includes("SUBTASK");
    if (!isSub) return say("All done.");
    return request.messages.length > 2 ? say("sub done") : write(path("sub.txt"), "sub\n");
  };

  /** The entry under the cursor of the quickfix window is the one of `name`. */
  const select = (name: string) =>
    neovim.lua(`
      vim.cmd("copen")
      for row, item in ipairs(vim.fn.getqflist()) do
        local data = item.user_data.claude_code
        if vim.fs.basename(data.path) == "${name}" then
          vim.api.nvim_win_set_cursor(0, { row, 0 })
          return row
        end
      end
      error("${name} is not listed")`);

  async function startNeovim(files: string[]): Promise<void> {
    neovim = await Neovim.start({ version, project, home, files });
    await eventually(async () => (await lockFiles(home)).length, 1, 20_000);
  }

  async function startClaude(mode: string, further?: string): Promise<Claude> {
    const [lock] = await lockFiles(home);
    const args = ["--permission-mode", mode, "--allowedTools=Bash", settings];
    return Claude.start({
      project,
      home,
      model,
      port: lock?.port ?? 0,
      args,
      ...(further && { further }),
    });
  }

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "review-")));
    project = join(root, "project");
    home = join(root, "home");
    for (const folder of ["tmp", "run"]) await mkdir(join(home, folder), { recursive: true });
    await mkdir(project);
    for (const [name, content] of Object.entries(FILES)) await writeFile(path(name), content);
    for (const name of ["gone.txt", "old.txt"]) await chmod(path(name), 0o755);
    await git("init -q .", "add -A", "commit -qm first");
    await startNeovim([path("main.lua")]);
    claude = await startClaude("acceptEdits");
    await claude.waitForEditor();
  }, STEP_MS);

  afterAll(async () => {
    await claude?.close();
    await neovim?.close();
    model.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }, STEP_MS);

  async function git(...commands: string[]): Promise<void> {
    for (const line of commands) {
      const words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", ...line.split(" ")];
      const done = Bun.spawnSync(words, { cwd: project, env: isolatedEnv(home) });
      if (done.exitCode !== 0) throw new Error(`${line}: ${done.stderr}`);
    }
  }

  test(
    "everything that the CLI changes is listed: by its tools, its shell, a subagent",
    async () => {
      await command("edit mine.txt | call setline(1, 'A of mine') | silent write | edit main.lua");
      const main = path("main.lua");
      model.script([
        read(main),
        edit(main, "local two = 2", "local two = 22"),
        write(path("new.txt"), "new\n"),
        bash("sed -i s/two/TWO/ crlf.txt; sed -i 's/^c$/C/' mine.txt"),
        bash("rm gone.txt && mv old.txt moved.txt"),
        bash("cat > here.txt <<'X'\nheredoc\nX"),
        bash("python3 -c \"for i in range(8): open(f'g{i}.txt', 'w').write('x\\n' * i)\""),
        [
          {
            tool: "Agent",
            input: {
              description: "sub",
              prompt: "SUBTASK",
              subagent_type: "general-purpose",
              run_in_background: false,
            },
          },
        ],
        ...Array.from({ length: 4 }, () => bySubagent),
      ]);
      await claude.prompt("tidy up");
      await claude.terminal.waitFor(/Agent "sub" finished/, TURN_MS);
      await claude.waitForIdle();
      await eventually(count, 16);
      await command("Claude review");
      const from = "turn 1  ‹tidy up›";
      await eventually(list, [
        `crlf.txt:2 +1 -1  ${from}  Bash`,
        `g0.txt:1 new empty file  ${from}  Bash`,
        ...[1, 2, 3, 4, 5, 6, 7].map((i) => `g${i}.txt:1 new file  ${from}  Bash`),
        `gone.txt:1 deleted  ${from}  Bash`,
        `here.txt:1 new file  ${from}  Bash`,
        `main.lua:2 +1 -1  ${from}  Edit`,
        `mine.txt:3 +1 -1  ${from}  Bash`,
        `moved.txt:1 renamed from old.txt  ${from}  Bash`,
        `new.txt:1 new file  ${from}  Write`,
        `sub.txt:1 new file  ${from}  Write of a subagent`,
      ]);
    },
    STEP_MS,
  );

  test(
    "entries are kept and undone, to the byte, and decisions are taken back",
    async () => {
      for (const name of ["crlf.txt", "gone.txt", "moved.txt", "here.txt", "main.lua"]) {
        const left = (await list()).length;
        await select(name);
        await neovim.terminal.type("gr");
        await eventually(async () => (await list()).length, left - 1);
      }
      for (const name of ["crlf.txt", "gone.txt", "old.txt", "main.lua"]) {
        expect(await text(name)).toBe(FILES[name] as string);
      }
      expect(["gone.txt", "old.txt"].map((name) => statSync(path(name)).mode & 0o777)).toEqual([
        0o755, 0o755,
      ]);
      expect(["moved.txt", "here.txt"].filter((name) => existsSync(path(name)))).toEqual([]);
      expect((await neovim.buffer(path("main.lua")))?.text).toBe(MAIN);
      expect(await text("mine.txt")).toBe("A of mine\nb\nC\n");

      await select("g0.txt");
      await neovim.terminal.type("V7jga");
      await eventually(count, 3);
      await command("Claude back");
      await eventually(count, 11);
      await neovim.lua("vim.cmd('1,8Claude keep') return true");
      await eventually(count, 3);
    },
    STEP_MS,
  );

  test(
    "the model receives comments, and which edits were undone",
    async () => {
      await command("edit main.lua");
      await command("2Claude comment! two is enough");
      await claude.terminal.waitFor(/@ide:review:comments/);
      model.script([say("Noted.")]);
      await claude.terminal.press("Enter");
      const received = newsText(await model.nextRequest());
      expect(received).toContain("1. main.lua:2: two is enough\n   > local two = 2");
      expect(received).toContain("Do not make these again unless the user asks for it.");
      expect(received).toContain("main.lua\nline 2:\n+local two = 2\n-local two = 22");
      await claude.waitForIdle();
      await command("Claude review done");
      await eventually(count, 0);
    },
    STEP_MS,
  );

  test(
    "what a command had changed when the user pressed Esc is there at once",
    async () => {
      model.script([bash("echo half >> mine.txt; sleep 30"), say("never")]);
      await claude.prompt("be slow");
      await eventually(() => text("mine.txt"), "A of mine\nb\nC\nhalf\n");
      await claude.terminal.press("Escape");
      await eventually(count, 1);
      await command("Claude review");
      await eventually(list, ["mine.txt:4 +1 -0  turn 3  ‹be slow›  Bash"]);
    },
    STEP_MS,
  );

  test(
    "what the user rewinds in the CLI leaves the review, and nothing of the user's goes with it",
    async () => {
      const mine = `${MAIN}-- mine\n`;
      await command("edit main.lua | call append('$', '-- mine') | silent write");
      await command("edit mine.txt | call setline(2, 'B of mine, unsaved') | hide edit main.lua");
      const main = path("main.lua");
      model.script([
        read(main),
        edit(main, "local two = 2", "local two = 22"),
        write(path("rewound.txt"), "new\n"),
        say("Rewind me."),
      ]);
      await claude.prompt("try it");
      await claude.terminal.waitFor(/Rewind me\./, TURN_MS);
      await eventually(count, 3);
      await claude.prompt("/rewind");
      await claude.terminal.waitFor(/Restore the code and\/or conversation/);
      await claude.terminal.press("Up");
      await claude.terminal.waitFor(/❯ try it/);
      await claude.terminal.press("Enter");
      await claude.terminal.waitFor(/3\. Restore code/);
      await claude.terminal.press("3");
      await eventually(() => text("main.lua"), mine);
      await eventually(list, ["mine.txt:4 +1 -0  turn 3  ‹be slow›  Bash"]);
      expect(existsSync(path("rewound.txt"))).toBe(false);
      await eventually(async () => (await neovim.buffer(main))?.text, mine);
      expect((await neovim.buffer(path("mine.txt")))?.text).toContain("B of mine, unsaved\n");
      await command("buffer mine.txt | edit! | buffer main.lua");
    },
    STEP_MS,
  );

  test(
    "a second session, in auto mode, is told apart; a commit and a checkout of the user's decide",
    async () => {
      await using second = await startClaude("auto", "second.log");
      await second.waitForEditor();
      model.script([
        read(path("main.lua")),
        edit(path("main.lua"), "three = 3", "three = 33"),
        bash("sed -i s/gone/GONE/ gone.txt"),
        say("Second done."),
      ]);
      await second.prompt("go on");
      await second.terminal.waitFor(/Second done\./, TURN_MS);
      await eventually(count, 3);
      await command("Claude review session");
      await eventually(list, [
        "gone.txt:1 +1 -1  turn 1  ‹go on›  Bash",
        "main.lua:3 +1 -1  turn 1  ‹go on›  Edit",
      ]);
      await git("checkout -q gone.txt", "commit -qm kept main.lua");
      await eventually(count, 1);
    },
    STEP_MS,
  );

  test(
    "after kill -9 a Neovim that starts has the same review",
    async () => {
      process.kill(await neovim.pid(), "SIGKILL");
      await neovim.close();
      await rm(join(home, "nvim.sock"), { force: true });
      // Else Neovim asks its own question about the buffer that was open.
      await rm(join(home, ".local/state/nvim/swap"), { recursive: true, force: true });
      await eventually(async () => (await lockFiles(home)).length, 0, 20_000);
      await startNeovim([]);
      await eventually(count, 1);
      await command("Claude review!");
      await eventually(list, ["mine.txt:4 +1 -0  turn 3  ‹be slow›  Bash"]);
      await neovim.terminal.waitFor(/hunk 1\/1/);
      await neovim.terminal.type("gr");
      await eventually(() => text("mine.txt"), "A of mine\nb\nC\n");
      await eventually(count, 0);
    },
    STEP_MS,
  );
});
