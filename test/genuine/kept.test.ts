import {
  claudeCli,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  nightly,
  type SessionRow,
  TestNeovim,
} from "#test";
import { untilAnswered } from "../support/claude";
import { claudeEnv } from "../support/claude-home";
import { Model } from "../support/model";
import { requireNamespace } from "../support/namespace";
import { Terminal } from "../support/tmux";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { User } from "./user";

const START_MS = 40_000;
/** It counts a connection that closes immediately as a lasting one (measured with 2.1.330). */
const SETTLES_MS = 1_000;
/** A question ignores the keys of its first 250 ms or so (measured with Claude Code 2.1.330). */
const QUESTION_MS = 600;
const TEXT = "one\ntwo\n";

/** The genuine CLI in a pane of a real tmux, and one Neovim after the other beside it. */
class Kept extends User {
  model!: Model;
  terminal!: Terminal;
  neovim!: TestNeovim;
  pane = "";

  private constructor(private readonly version: NeovimVersion) {
    super();
  }

  static inBlock(version: NeovimVersion): Kept {
    const kept = new Kept(version);
    beforeAll(() => kept.open());
    afterAll(async () => {
      await kept.neovim?.[Symbol.asyncDispose]();
      await kept.terminal?.close();
      kept.model?.stop();
      await kept.leave();
    });
    return kept;
  }

  private async open(): Promise<void> {
    await this.arrive({ "a.txt": TEXT });
    this.model = new Model();
    const env = claudeEnv(this.home, this.model.url);
    this.terminal = await Terminal.start({
      command: ["cat"],
      cwd: this.project,
      env,
      columns: 300,
    });
    await this.start();
    await this.neovim.command("Claude");
    const panes = async () =>
      (await this.terminal.tmux("list-panes", "-F", "#{pane_id}")).trim().split("\n");
    await eventually(async () => (await panes()).length, 2);
    this.pane = (await panes()).at(-1) ?? "";
    await this.shows(/^❯/m);
    await this.connected();
  }

  get file(): string {
    return this.path("a.txt");
  }

  async start(): Promise<void> {
    const { home, project: cwd, version } = this;
    const command = `{ provider = "tmux", keep = true, permission_mode = "default", command = [[${claudeCli()}]] }`;
    this.neovim = await TestNeovim.start({
      ...{ version, home, cwd, args: ["-n", this.file], ui: { width: 160, height: 40 } },
      setup: `{ terminal = ${command} }`,
      env: await this.terminal.inside(),
    });
    await this.neovim.lua(`
      SAID, HOOKS = {}, 0
      vim.notify = function(text) table.insert(SAID, text) end
      local sources = require("port").session_sources
      local report = sources.on_hook
      sources.on_hook = function(...)
        HOOKS = HOOKS + 1
        return report(...)
      end`);
  }

  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.neovim.process.once("exit", resolve));
    this.neovim.process.kill("SIGKILL");
    await gone;
  }

  press(...keys: string[]): Promise<string> {
    return this.terminal.tmux("send-keys", "-t", this.pane, ...keys);
  }

  shows(wanted: RegExp): Promise<void> {
    const screen = () => this.terminal.tmux("capture-pane", "-p", "-t", this.pane);
    return eventually(async () => wanted.test(await screen()), true, START_MS);
  }

  async row(): Promise<SessionRow | undefined> {
    const rows = await this.neovim.lua<SessionRow[]>(`return require("claude-code").sessions()`);
    return rows.find(({ n }) => n === 1);
  }

  async connected(): Promise<void> {
    await eventually(async () => (await this.row())?.connected, true, START_MS);
    await Bun.sleep(SETTLES_MS);
  }

  async connectByIde(): Promise<void> {
    await this.neovim.command("Claude send! /ide");
    await this.shows(/Connect to an IDE/);
    for (const key of ["Up", "Enter"]) {
      await Bun.sleep(QUESTION_MS);
      await this.press(key);
    }
    await this.shows(/Connect to your IDE automatically/);
    await Bun.sleep(QUESTION_MS);
    await this.press("Enter");
    await this.connected();
  }

  hasState(state: string): Promise<void> {
    return eventually(async () => (await this.row())?.state, state, START_MS);
  }

  said(): Promise<string> {
    return this.neovim.lua(`return table.concat(SAID, " ")`);
  }

  says(part: string): Promise<void> {
    return eventually(async () => (await this.said()).includes(part), true, START_MS);
  }

  diffShown(): Promise<void> {
    const shown = () => this.neovim.lua<boolean>(`return require("port").diff_shown()`);
    return eventually(shown, true, START_MS);
  }
}

requireNamespace();
describe.each(NEOVIMS)("a Claude that $name leaves in tmux", (version) => {
  const kept = Kept.inBlock(version);

  test("rejects a diff after kill -9, receives prompts, and connects with /ide", async () => {
    kept.model.script([read(kept.file), edit(kept.file, "one", "eins")]);
    await kept.neovim.command("Claude send! change it");
    await kept.diffShown();
    const { id } = (await kept.row()) ?? {};
    await kept.kill();
    await kept.start();
    await eventually(async () => (await kept.row())?.id, id);
    await kept.hasState("idle");
    expect(await kept.onDisk("a.txt")).toBe(TEXT);
    kept.model.script([say("I read you.")]);
    await kept.neovim.command("Claude send! are you there?");
    await kept.shows(/I read you\./);
    expect((await kept.row())?.connected).toBeUndefined();
    await kept.says("type /ide there");
    await kept.connectByIde();

    kept.model.script([read(kept.file), edit(kept.file, "two", "zwei"), say("Done again.")]);
    await kept.neovim.command("Claude send! change more");
    await kept.diffShown();
    await kept.neovim.command("Claude diff accept");
    await eventually(async () => (await kept.onDisk("a.txt")).includes("zwei"), true);
    await kept.shows(/Done again\./);
    // Its hooks find the new Neovim, too.
    const hooks = () => kept.neovim.lua<number>("return HOOKS");
    await eventually(async () => (await hooks()) > 0, true, START_MS);
  });
});

/** A CLI that has lost its Neovim tries to find it again for 17 s (measured with 2.1.330). */
const GIVES_UP_MS = 21_000;

nightly.describe("a Claude that is left in tmux", () => {
  const kept = Kept.inBlock(NEWEST);

  test("asks in its pane after kill -9 of Neovim and its server", async () => {
    kept.model.script([read(kept.file), edit(kept.file, "one", "eins"), say("Done.")]);
    await kept.neovim.command("Claude send! change it");
    await kept.diffShown();
    const server = await kept.neovim.lua<number>(`return require("port").server.process.pid`);
    process.kill(server, "SIGKILL");
    await kept.kill();
    await kept.start();
    await kept.hasState("blocked");
    expect(await kept.neovim.lua(`return require("port").no_diff()`)).toBe(true);
    await kept.neovim.command("Claude send! 1");
    expect(await kept.said()).toContain("answer it first");
    const isWritten = async () => (await kept.onDisk("a.txt")) !== TEXT;
    await untilAnswered(() => kept.press("Enter"), isWritten);
    expect(await kept.onDisk("a.txt")).toBe(TEXT.replace("one", "eins"));
    await kept.shows(/Done\./);
  });

  test("connects with /ide once it has given up", async () => {
    await kept.kill();
    await Bun.sleep(GIVES_UP_MS);
    await kept.start();
    await eventually(async () => (await kept.row())?.n, 1);
    await kept.connectByIde();
  });
});
