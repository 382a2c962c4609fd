import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { untilAnswered } from "../support/claude";
import { type ModelRequest, newsText } from "../support/model-request";
import { Container, remotesOption } from "../support/remote";
import { EXECUTABLE, NEWEST } from "../support/toolchain";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
import { MODIFIED, UPDATED } from "./first-light";
import { InTerminal, START_MS } from "./in-terminal";

const MAIN = `local name = "zero"\nreturn name\n`;

export interface Way {
  /** The project's path there; the same one if left out. */
  at?: string;
  /** How Neovim's side starts the relay, and Claude. */
  by: "exec" | "ssh";
}

/** The genuine CLI in namespaces of its own, as in a container, and Neovim outside. Only the model is a stand-in. */
export class InRemote extends InTerminal {
  container!: Container;

  /** For the tests of the block around the call. */
  static inBlock(way: Way): InRemote {
    const claude = new InRemote();
    const { at, by } = way;
    const files = { "main.lua": MAIN, "other.lua": "return 1\n" };
    claude.inBlock(NEWEST, {
      files,
      terminal: `remote = "dev",`,
      setup: () =>
        remotesOption({
          ...claude.container.commands(),
          ...(at !== undefined && { path_mappings: { [at]: claude.project } }),
        }),
      prepare: async () => {
        claude.container = await Container.start({
          project: claude.project,
          ...(at !== undefined && { at }),
          home: join(claude.root, "inside"),
          hidden: [claude.home, ...(at === undefined ? [] : [claude.project])],
          model: claude.model,
          ssh: by === "ssh",
        });
      },
    });
    afterAll(() => claude.container?.stop());
    return claude;
  }

  /** A file of the project, as Claude names it. */
  inside(name: string): string {
    return join(this.container.project, name);
  }

  /** The names of the lock files there. */
  locks(): string[] {
    return readdirSync(join(this.root, "inside/.claude/ide"));
  }

  /** The remotes of all clients. */
  clients(): Promise<(string | undefined)[]> {
    return this.neovim.lua(
      `return vim.tbl_map(function(client) return client.remote end, require("port").server.clients)`,
    );
  }

  joined(): Promise<void> {
    return eventually(() => this.clients(), ["dev"], START_MS);
  }

  press(key: string): Promise<void> {
    return this.neovim.terminal.press(key);
  }

  async state(): Promise<string> {
    return await this.neovim.lua(`return require("port").session_rows.get(1).state`);
  }

  /** Waits until a turn has ended, and the hooks at its end. A prompt, or a script, would meet its last requests. */
  turnEnded(): Promise<void> {
    return eventually(async () => ["idle", "done"].includes(await this.state()), true, START_MS);
  }

  /** Waits until Neovim shows the main file with another `from`, and puts the cursor there. */
  async shown(from: string, to: string): Promise<string> {
    const proposal = (await this.onDisk("main.lua")).replace(from, to);
    const diff = await this.neovim.waitForDiff(proposal);
    await this.neovim.focus(diff.proposed.window);
    return proposal;
  }

  /** Claude edits the main file; returns the proposal once Neovim shows it, with the cursor there. */
  async propose(from: string, to: string, ...further: Parameters<typeof this.model.script>[0]) {
    const main = this.inside("main.lua");
    await this.turnEnded();
    this.model.script([read(main), edit(main, from, to), [{ text: "Done." }], ...further]);
    await this.command("Claude send! -- change it");
    return await this.shown(from, to);
  }

  received(words: string): Promise<ModelRequest> {
    return this.model.nextRequest((request) => newsText(request).includes(words));
  }

  async written(text: string): Promise<void> {
    await eventually(() => this.onDisk("main.lua"), text);
    await eventually(() => this.neovim.buffer(this.path("main.lua")), { text, modified: false });
  }

  /** The CLI's own question outlives the diff. */
  async leaveQuestion(): Promise<void> {
    const pressEscape = `
      local row = require("port").session_rows.get(1)
      vim.api.nvim_chan_send(vim.bo[row.buf].channel, "\\27")
      return true`;
    const isAnswered = async () => (await this.state()) !== "blocked";
    expect(await untilAnswered(() => this.neovim.lua(pressEscape), isAnswered)).toBe(true);
  }
}

export function starts(claude: InRemote): void {
  test(":Claude starts it there, connected by a lock file without a pid", async () => {
    await claude.begin();
    await claude.joined();
    const folder = join(claude.root, "inside/.claude/ide");
    const [name = ""] = claude.locks();
    const lock = JSON.parse(readFileSync(join(folder, name), "utf8"));
    expect(lock).toMatchObject({ workspaceFolders: [claude.container.project] });
    expect(lock).not.toHaveProperty("pid");
    await claude.command("wincmd p");
  });
}

export function accepts(claude: InRemote): void {
  test("accepted: the CLI writes inside, the buffer follows", async () => {
    const proposal = await claude.propose("zero", "one");
    const bar = `return vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str`;
    expect(await claude.neovim.lua<string>(bar)).toContain("dev");
    await claude.press("Enter");
    expect(newsText(await claude.received(UPDATED))).not.toContain(MODIFIED);
    await claude.written(proposal);
  });
}

export function shows(claude: InRemote): void {
  test("what is selected, and what is mentioned, has the path that it has there", async () => {
    await claude.turnEnded();
    await claude.command("edit other.lua");
    await claude.showing(/⧉ In other\.lua/);
    await claude.neovim.terminal.type("V");
    claude.model.script([[{ text: "It is a line." }]]);
    await claude.showing(/⧉ 1 line selected/);
    await claude.send("what is that?");
    expect(newsText(await claude.model.nextRequest())).toContain(
      `The user selected the lines 1 to 1 from ${claude.inside("other.lua")}:\nreturn 1`,
    );
    await claude.press("Escape");
    await claude.showing(/It is a line\./);
    await claude.turnEnded();
    claude.model.script([[{ text: "Understood." }]]);
    await claude.command("Claude mention main.lua");
    await claude.showing(/@main\.lua/);
    await claude.send("and that?");
    // Below the CLI's working folder, so it is a file of there.
    expect(newsText(await claude.model.nextRequest())).toContain("@main.lua and that?");
    await claude.command("edit main.lua");
  });
}

export function reconnects(claude: InRemote): void {
  test("when the relay is killed, its diff is rejected, and the CLI connects again", async () => {
    const text = await claude.onDisk("main.lua");
    await claude.propose("return name", "return lost");
    const [pid] = claude.container.pids(`^${EXECUTABLE} relay `);
    process.kill(pid as number, "SIGKILL");
    await eventually(() => claude.neovim.diff(), null);
    await claude.joined();
    await claude.written(text);
    await claude.leaveQuestion();
  });
}

export function reviews(claude: InRemote): void {
  test("what it changes without asking is in the review, and its tools read", async () => {
    await claude.command("Claude new --permission-mode acceptEdits");
    await claude.showing(/^❯/m, 2);
    await eventually(() => claude.clients(), ["dev", "dev"], START_MS);
    await claude.command("stopinsert | wincmd p | edit other.lua");
    const other = claude.inside("other.lua");
    claude.model.script([read(other), edit(other, "1", "2"), [{ text: "Done." }]]);
    await claude.neovim.lua(
      `require("port").terminal.send("go on", { submit = true, n = 2 }) return true`,
    );
    const request = await claude.received(UPDATED);
    const tools = request.tools?.map(({ name }) => name) ?? [];
    expect(tools).toContain("mcp__nvim-lsp__find_symbol");
    expect(tools).not.toContain("mcp__nvim-lsp__rename_symbol");
    expect(tools).not.toContain("mcp__ide__executeCode");
    expect(await claude.onDisk("other.lua")).toBe("return 2\n");
    const waiting = () =>
      claude.neovim.lua<number>("return (vim.b.claude_code_review or {}).hunks or 0");
    await eventually(waiting, 1, START_MS);
  });
}
