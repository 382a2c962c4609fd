import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { Model } from "../support/model";
import { requireNamespace } from "../support/namespace";
import { TestNeovim } from "../support/neovim";
import { Terminal } from "../support/tmux";
import { claudeCli, NEOVIMS, NEWEST, type NeovimVersion } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";

/*
 * The genuine CLI in a pane of a real tmux, and one Neovim after the other beside it. Only the model is
 * a stand-in.
 */
const CASE_MS = 120_000;
const START_MS = 40_000;
/** A CLI that has lost its Neovim tries for 17 s to find it again (measured with 2.1.330). */
const GIVES_UP_MS = 21_000;
/** A question ignores the keys of its first 250 ms or so (measured with Claude Code 2.1.330). */
const QUESTION_MS = 600;
/** It takes a connection that is closed as it begins for one that holds (measured with 2.1.330). */
const SETTLES_MS = 1_000;
const TEXT = "one\ntwo\n";

interface Row {
  n?: number;
  id: string;
  state?: string;
  connected?: boolean;
}

requireNamespace();
describe.each(NEOVIMS)("a Claude that $name leaves in tmux", inPane);

function inPane(version: NeovimVersion) {
  let root: string;
  let file: string;
  let model: Model;
  let terminal: Terminal;
  let neovim: TestNeovim;
  /** Claude's. */
  let pane: string;

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "claude-kept-")));
    const [project, home] = [join(root, "project"), join(root, "home")];
    for (const folder of ["tmp", "run"]) await mkdir(join(home, folder), { recursive: true });
    await mkdir(project);
    file = join(project, "a.txt");
    await writeFile(file, TEXT);
    await prepareClaudeHome(home, project);
    model = new Model();
    const env = claudeEnv(home, model.url);
    terminal = await Terminal.start({ command: ["cat"], cwd: project, env, columns: 300 });
    await start();
    await neovim.command("Claude");
    const panes = async () =>
      (await terminal.tmux("list-panes", "-F", "#{pane_id}")).trim().split("\n");
    await eventually(async () => (await panes()).length, 2);
    pane = (await panes()).at(-1) ?? "";
    await shows(/^❯/m, START_MS);
    await connected();
  }, CASE_MS);

  afterAll(async () => {
    await neovim?.[Symbol.asyncDispose]();
    await terminal?.close();
    model?.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  /** The next Neovim. */
  async function start(): Promise<void> {
    const [project, home] = [join(root, "project"), join(root, "home")];
    const command = `{ provider = "tmux", keep = true, command = [[${claudeCli()}]] }`;
    neovim = await TestNeovim.start({
      ...{ version, home, cwd: project, args: ["-n", file], ui: { width: 160, height: 40 } },
      setup: `{ terminal = ${command} }`,
      env: await terminal.inside(),
    });
    await neovim.lua(`
      SAID, HOOKS = {}, 0
      vim.notify = function(text) table.insert(SAID, text) end
      local hooks = require("port").session_hooks
      local report = hooks.report
      hooks.report = function(...)
        HOOKS = HOOKS + 1
        return report(...)
      end`);
  }

  async function kill(): Promise<void> {
    const gone = new Promise((resolve) => neovim.process.once("exit", resolve));
    neovim.process.kill("SIGKILL");
    await gone;
  }

  const screen = () => terminal.tmux("capture-pane", "-p", "-t", pane);
  const press = (...keys: string[]) => terminal.tmux("send-keys", "-t", pane, ...keys);
  const shows = (wanted: RegExp, timeoutMs = START_MS) =>
    eventually(async () => wanted.test(await screen()), true, timeoutMs);
  const onDisk = () => readFile(file, "utf8");
  const row = async () =>
    (await neovim.lua<Row[]>(`return require("claude-code").sessions()`)).find(({ n }) => n === 1);
  const connected = async () => {
    await eventually(async () => (await row())?.connected, true, START_MS);
    await Bun.sleep(SETTLES_MS);
  };
  const said = () => neovim.lua<string>(`return table.concat(SAID, " ")`);
  const hasState = (state: string) => eventually(async () => (await row())?.state, state, START_MS);
  const diffShown = () =>
    eventually(() => neovim.lua<boolean>(`return require("port").diff_shown()`), true, START_MS);

  test(
    "by kill -9 with a diff on screen: that is rejected, and it connects again",
    async () => {
      model.script([read(file), edit(file, "one", "eins")]);
      await neovim.command("Claude send! change it");
      await diffShown();
      const { id } = (await row()) ?? {};
      await kill();
      await start();
      await connected();
      expect(await row()).toMatchObject({ n: 1, id });
      await hasState("idle");
      expect(await onDisk()).toBe(TEXT);
    },
    CASE_MS,
  );

  test(
    "by kill -9 of Neovim and its server with a diff on screen: asks in its pane",
    async () => {
      model.script([read(file), edit(file, "one", "eins"), say("Done.")]);
      await neovim.command("Claude send! change it");
      await diffShown();
      const server = await neovim.lua<number>(`return require("port").server.process.pid`);
      process.kill(server, "SIGKILL");
      await kill();
      await start();
      await connected();
      await hasState("blocked");
      expect(await neovim.lua(`return require("port").no_diff()`)).toBe(true);
      await neovim.command("Claude send! 1");
      expect(await said()).toContain("answer it first");
      for (let tries = 0; tries < 10 && (await onDisk()) === TEXT; tries++) {
        await press("Enter");
        await Bun.sleep(QUESTION_MS);
      }
      expect(await onDisk()).toBe(TEXT.replace("one", "eins"));
      await shows(/Done\./);
      // Its hooks find the new Neovim, too.
      await eventually(async () => (await neovim.lua<number>("return HOOKS")) > 0, true, START_MS);
    },
    CASE_MS,
  );

  test(
    "by :qa: connects again, and shows its next edit there",
    async () => {
      await neovim.quit();
      await start();
      await connected();
      model.script([read(file), edit(file, "two", "zwei"), say("Done again.")]);
      await neovim.command("Claude send! change more");
      await diffShown();
      await neovim.command("Claude diff accept");
      await eventually(async () => (await onDisk()).includes("zwei"), true);
      await shows(/Done again\./);
      expect(await said()).not.toContain("/ide");
    },
    CASE_MS,
  );

  // What the CLI does, whichever Neovim has gone.
  if (version !== NEWEST) return;
  test(
    "given up, it is adopted all the same, receives prompts, and connects by /ide",
    async () => {
      await kill();
      await Bun.sleep(GIVES_UP_MS);
      await start();
      await eventually(async () => (await row())?.n, 1);
      model.script([say("I read you.")]);
      await neovim.command("Claude send! are you there?");
      await shows(/I read you\./);
      expect((await row())?.connected).toBeUndefined();
      await eventually(async () => (await said()).includes("type /ide there"), true, START_MS);
      await neovim.command("Claude send! /ide");
      await shows(/Connect to an IDE/);
      for (const key of ["Up", "Enter"]) {
        await Bun.sleep(QUESTION_MS);
        await press(key);
      }
      await shows(/Connect to your IDE automatically/);
      await Bun.sleep(QUESTION_MS);
      await press("Enter");
      await connected();
    },
    CASE_MS,
  );
}
