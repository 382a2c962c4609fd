import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { Model } from "../support/model";
import { requireNamespace } from "../support/namespace";
import { claudeCli, NEOVIMS, type NeovimVersion } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { Neovim } from "./neovim";

/* Several genuine CLIs in terminals of one Neovim, in a real TUI. Only the model is a stand-in. */
const CASE_MS = 90_000;
const START_MS = 40_000;
const TEXT = "one\ntwo\n";

requireNamespace();
describe.each(NEOVIMS)("several Claudes in $name", inTerminals);

interface Row {
  n: number;
  id: string;
  name?: string;
  worktree?: string;
  state?: string;
  source?: string;
  buf?: number;
}

function inTerminals(version: NeovimVersion) {
  let root: string;
  let project: string;
  let model: Model;
  let neovim: Neovim;

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "claude-several-")));
    project = join(root, "project");
    const home = join(root, "home");
    for (const folder of ["tmp", "run"]) await mkdir(join(home, folder), { recursive: true });
    await mkdir(project);
    for (const name of ["a.txt", "b.txt"]) await writeFile(file(name), TEXT);
    const env = claudeEnv(home, "");
    for (const words of [
      ["init", "--quiet", "--initial-branch=main"],
      ["add", "."],
      ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "--quiet", "-m", "x"],
    ])
      Bun.spawnSync(["git", ...words], { cwd: project, env });
    await prepareClaudeHome(home, project);
    model = new Model();
    neovim = await Neovim.start({
      ...{ version, project, home, files: [file("a.txt")] },
      setup: `{ terminal = { command = [[${claudeCli()}]] } }`,
      env: claudeEnv(home, model.url),
      columns: 160,
    });
    await eventually(() => neovim.lua("return vim.v.vim_did_enter"), 1);
  }, CASE_MS);

  afterAll(async () => {
    await stopBackground();
    await neovim?.close();
    model?.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  const file = (name: string) => join(project, name);
  const onDisk = (name: string) => readFile(file(name), "utf8");
  const command = (text: string) => neovim.lua(`vim.cmd([[${text}]]) return true`);
  const rows = () => neovim.lua<Row[]>(`return require("port").session_list.own()`);

  const claudeShows = (n: number) =>
    neovim.lua<string>(`
      local row = require("port").session_rows.get(${n})
      local lines = row and vim.api.nvim_buf_get_lines(row.buf, 0, -1, false) or {}
      return table.concat(lines, "\\n")`);
  const showing = (n: number, wanted: RegExp, timeoutMs = START_MS) =>
    eventually(async () => wanted.test(await claudeShows(n)), true, timeoutMs);

  const hasState = (n: number, state: string) =>
    eventually(async () => (await rows()).find((row) => row.n === n)?.state, state, START_MS);

  const connected = (count: number) =>
    eventually(
      () => neovim.lua<number>(`return #require("claude-code").status().clients`),
      count,
      START_MS,
    );

  test(
    "two start, each with an id and a state of its own",
    async () => {
      await command("Claude");
      await showing(1, /^❯/m);
      await command("Claude new -n docs");
      await showing(2, /^❯/m);
      await connected(2);
      await hasState(1, "idle");
      await hasState(2, "idle");
      const [first, second] = await rows();
      expect(second?.name).toBe("docs");
      expect(first?.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(second?.id).not.toBe(first?.id);
      await neovim.terminal.waitFor(/1( \S+)? ○ +2 docs ○/);
    },
    CASE_MS,
  );

  test(
    "both propose: each diff names its session, and each receives its own answer",
    async () => {
      await neovim.lua(`vim.cmd.stopinsert() vim.cmd.wincmd("p") return true`);
      model.script([read(file("b.txt")), edit(file("b.txt"), "two", "zwei"), say("Done.")]);
      await command("Claude send! change b");
      await neovim.terminal.waitFor(/docs: b\.txt/);
      // Whichever is accepted first takes the first.
      const dones = [say("Done."), say("Done.")];
      model.script([read(file("a.txt")), edit(file("a.txt"), "one", "eins"), ...dones]);
      await command("Claude send-to! 1 change a");
      await neovim.terminal.waitFor(/\[1\/2\] docs: b\.txt/);
      await command("Claude diff accept");
      await eventually(() => onDisk("b.txt"), TEXT.replace("two", "zwei"));
      await showing(2, /Done\./);
      await neovim.terminal.waitFor(/1[^│]*: a\.txt/);
      expect(await onDisk("a.txt")).toBe(TEXT);
      await command("Claude diff accept");
      await eventually(() => onDisk("a.txt"), TEXT.replace("one", "eins"));
      await showing(1, /Done\./);
    },
    CASE_MS,
  );

  test(
    "one in a worktree of its own",
    async () => {
      await command("Claude new -w feature");
      await showing(3, /^❯/m);
      await connected(3);
      const path = file(".claude/worktrees/feature/a.txt");
      model.script([read(path), edit(path, "two", "deux"), say("Feature done.")]);
      await neovim.lua(`vim.cmd.stopinsert() vim.cmd.wincmd("p") return true`);
      await command("Claude send-to! feature change it");
      await neovim.terminal.waitFor(/feature: \S*a\.txt/);
      await command("Claude diff accept");
      await eventually(() => readFile(path, "utf8"), TEXT.replace("two", "deux"));
      expect(await onDisk("a.txt")).toBe(TEXT.replace("one", "eins"));
    },
    CASE_MS,
  );

  test(
    "one that has ended is resumed beside those that run",
    async () => {
      const id = (await rows()).find((row) => row.n === 2)?.id;
      await command("Claude send-to! docs /exit");
      await eventually(async () => (await rows()).map((row) => row.n), [1, 3], START_MS);
      await command(`Claude new --resume ${id}`);
      await showing(2, /Done\./);
      await connected(3);
      await eventually(async () => (await rows())[1]?.id, id, START_MS);
    },
    CASE_MS,
  );

  test(
    "one in the background is listed, attached and left again, and runs on",
    async () => {
      await neovim.lua(`
        vim.ui.select = function(rows, options, callback)
          CHOICES = vim.tbl_map(options.format_item, rows)
          for i, row in ipairs(rows) do
            if CHOICES[i]:find(WANTED, 1, true) then return callback(row) end
          end
        end
        return true`);
      const choose = (text: string) =>
        neovim.lua(`WANTED = "${text}" vim.cmd("Claude sessions") return true`);
      const all = () =>
        neovim.lua<Row[]>(`return vim.tbl_filter(function(row)
          return row.where == "background"
        end, require("claude-code").sessions())`);
      model.script([say("In the night.")]);
      await command("Claude new --bg -n nightly work on");
      const messages = () => neovim.lua<string>(`return vim.fn.execute("messages")`);
      const isSaid = async () => (await messages()).includes("works in the background");
      await eventually(isSaid, true, START_MS);
      await eventually(async () => (await all()).map((row) => row.state), ["idle"], START_MS);
      await choose("(background)");
      await showing(4, /In the night\./);
      // Its own terminal reports its state, as any other does.
      await eventually(async () => (await all()).map((row) => row.source), ["terminal"], START_MS);
      model.script([say("Still here.")]);
      await neovim.lua(`vim.cmd.stopinsert() vim.cmd.wincmd("p") return true`);
      await command("Claude send-to! nightly are you there");
      await showing(4, /Still here\./);
      const [attached] = await all();
      expect(attached).toMatchObject({ n: 4, name: "nightly" });
      // The CLI attaches by itself where one resumes it: there is no second one.
      await command(`Claude --resume ${attached?.id}`);
      const onScreen = () => neovim.lua<number>("return vim.api.nvim_get_current_buf()");
      await eventually(onScreen, attached?.buf ?? 0, START_MS);
      expect((await rows()).map((row) => row.n)).toEqual([1, 2, 3, 4]);
      await command("Claude close");
      await eventually(async () => (await all()).map((row) => row.n ?? 0), [0], START_MS);
      await stopBackground();
      await eventually(async () => (await all()).length, 0, START_MS);
    },
    CASE_MS,
  );

  /** Such a session outlives Neovim and the test; its daemon ends by itself once there is none. */
  async function stopBackground() {
    const options = { cwd: project, env: claudeEnv(join(root, "home"), model.url) };
    const agents = Bun.spawn([claudeCli(), "agents", "--json"], { ...options, stdout: "pipe" });
    const listed = (await new Response(agents.stdout).json()) as { kind: string; id: string }[];
    for (const one of listed)
      if (one.kind === "background") await Bun.spawn([claudeCli(), "stop", one.id], options).exited;
  }
}
