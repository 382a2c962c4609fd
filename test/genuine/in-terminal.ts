import { afterAll, beforeAll } from "bun:test";
import { readFileSync } from "node:fs";
import { Glob } from "bun";
import { claudeCli, type NeovimVersion } from "#test";
import { join } from "../../src/lib/platform";
import { untilAnswered } from "../support/claude";
import { claudeEnv } from "../support/claude-home";
import { Model } from "../support/model";
import { inOrganization } from "../support/mount";
import { eventually } from "./eventually";
import { Neovim } from "./neovim";
import { User } from "./user";

export const START_MS = 40_000;

interface Options {
  /** Texts by name, in the project; the first one is open. */
  files: Record<string, string>;
  /** Lua source: further fields of the option `terminal`, and further options. */
  terminal?: string;
  setup?: string | (() => string);
  columns?: number;
  /** The settings of the user's organization. */
  organization?: object;
  /** Before Neovim starts, and before it is closed. */
  prepare?: (env: Record<string, string>) => unknown;
  finish?: () => Promise<unknown>;
}

/** A real Neovim whose terminals run the genuine CLI, with the model's stand-in. */
export class InTerminal extends User {
  model!: Model;
  neovim!: Neovim;

  inBlock(version: NeovimVersion, options: Options): this {
    beforeAll(async () => {
      await this.arrive(options.files);
      const { root, home, project } = this;
      this.model = new Model();
      await options.prepare?.(this.env);
      const { terminal = "", setup = "", columns = 180 } = options;
      const [first = ""] = Object.keys(options.files);
      const { organization } = options;
      const binary = organization && (await inOrganization(organization, version.binary, root));
      this.neovim = await Neovim.start({
        ...{
          version: binary ? { ...version, binary } : version,
          project,
          home,
          columns,
          env: this.env,
          files: [this.path(first)],
        },
        setup: `{ terminal = { command = [[${claudeCli()}]], permission_mode = "default", ${terminal} }, ${typeof setup === "string" ? setup : setup()} }`,
      });
      // It answers before it has read its plugins.
      await eventually(() => this.neovim.lua("return vim.v.vim_did_enter"), 1);
    });

    afterAll(async () => {
      await options.finish?.();
      await this.neovim?.close();
      this.model?.stop();
      await this.leave();
    });

    return this;
  }

  get env(): Record<string, string> {
    return claudeEnv(this.home, this.model.url);
  }

  /** The files of all conversations. */
  transcript(): string {
    const folder = join(this.home, ".claude/projects");
    const files = new Glob("*/*.jsonl").scanSync({ cwd: folder });
    return [...files].map((name) => readFileSync(join(folder, name), "utf8")).join("");
  }

  lua = <T>(code: string): Promise<T> => this.neovim.lua<T>(code);

  lines = () => this.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");

  keys = (typed: string): Promise<boolean> =>
    this.lua(`vim.api.nvim_feedkeys(vim.keycode("${typed}"), "m", false) return true`);

  async begin(): Promise<void> {
    await this.command("Claude");
    await this.showing(/^❯/m);
  }

  command(line: string): Promise<boolean> {
    return this.neovim.lua(`vim.cmd([[${line}]]) return true`);
  }

  /** Types text into the prompt of the current session, and submits it. */
  send(prompt: string): Promise<boolean> {
    const send = `require("port").prompt.send("${prompt}", { submit = true })`;
    return this.neovim.lua(`${send} return true`);
  }

  /** Waits until the terminal shows this, whether or not it has a window. */
  showing(wanted: RegExp, n = 1): Promise<void> {
    const shown = () =>
      this.neovim.lua<string>(`
        local row = require("port").session_rows.get(${n})
        local lines = row and row.buf and vim.api.nvim_buf_get_lines(row.buf, 0, -1, false) or {}
        return table.concat(lines, "\\n")`);
    // A failure shows the screen.
    const found = async () => {
      const text = await shown();
      return wanted.test(text) || text;
    };
    return eventually<true | string>(found, true, START_MS);
  }

  connected(): Promise<void> {
    const names = () =>
      this.neovim.lua<string[]>(`
        return vim.tbl_map(function(client)
          return client.name
        end, require("claude-code").status().clients)`);
    return eventually(names, ["claude-code"], START_MS);
  }

  says(part: string): Promise<void> {
    return eventually(async () => (await this.messages()).includes(part), true);
  }

  messages(): Promise<string> {
    return this.neovim.lua("return vim.fn.execute('messages')");
  }

  /** Presses Enter in Claude's terminals. */
  pressEnter = (): Promise<boolean> =>
    this.lua(`
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.bo[buf].filetype == "claude-code-terminal" then
          vim.api.nvim_chan_send(vim.bo[buf].channel, "\\r")
        end
      end
      return true`);

  /** Presses Enter in Claude's terminals until what Claude asks there is answered. */
  async confirm(isAnswered: () => Promise<boolean>): Promise<void> {
    if (!(await untilAnswered(this.pressEnter, isAnswered))) throw new Error("Claude still asks");
  }
}
