import { afterAll, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { NEWEST } from "#test";
import { join } from "../../src/lib/platform";
import { untilAnswered } from "../support/claude";
import { type ModelRequest, newsText } from "../support/model-request";
import { Container, remotesOption } from "../support/remote";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
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

  locks(): string[] {
    return readdirSync(join(this.root, "inside/.claude/ide"));
  }

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

  /**
   * Waits until a turn has ended, and the hooks at its end. Otherwise the next prompt or script would meet the turn's
   * last requests.
   */
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
