import { afterAll, beforeAll, describe } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "../../src/lib/platform";
import { TestClient } from "./client";
import { eventually } from "./eventually";
import {
  BOTH_NEOVIMS,
  NEOVIMS,
  NEWEST,
  type NeovimOptions,
  type NeovimVersion,
  TestNeovim,
} from "./neovim";

/** One of Claude's sessions, as Lua has it. */
export interface SessionRow {
  n?: number;
  id?: string;
  name?: string;
  cwd?: string;
  worktree?: string;
  branch?: string;
  where?: string;
  job?: string;
  pid?: number | undefined;
  buf?: number;
  attached?: boolean;
  connected?: boolean;
  state?: string;
  kind?: string;
  msg?: string;
  source?: string;
}

/** A Neovim with the plugin and a client that is connected to it, shared by the tests of a block. */
export class Session {
  neovim!: TestNeovim;
  client!: TestClient;
  lock!: Awaited<ReturnType<TestNeovim["lock"]>>;

  path(name: string): string {
    return join(this.neovim.cwd, name);
  }

  /** Makes a file below the workspace, with its folders; returns its absolute path. */
  write(name: string, text: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  link(name: string, target: string): string {
    symlinkSync(target, this.path(name));
    return this.path(name);
  }

  /** Opens a file in the current window, whatever characters its name contains. */
  async edit(path: string): Promise<number> {
    return this.neovim.lua<number>(
      "local buf = vim.fn.bufadd((...)); vim.fn.bufload(buf); vim.bo[buf].buflisted = true; vim.api.nvim_win_set_buf(0, buf); return buf",
      path,
    );
  }

  /** Makes a file below the workspace, and opens it; returns its absolute path. */
  async open(name: string, text: string | Uint8Array): Promise<string> {
    const path = this.write(name, text);
    await this.edit(path);
    return path;
  }

  /**
   * Waits until the executable knows everything that has happened in Neovim: an answer that has to come
   * quickly is given without what is not known yet.
   */
  async known(): Promise<void> {
    await eventually("Neovim's state", () => this.client.json("getOpenEditors"));
  }

  /** One window with an empty buffer, every other buffer gone, in normal mode. */
  async reset(): Promise<void> {
    await this.neovim.lua(`
      if vim.api.nvim_get_mode().mode ~= "n" then
        vim.api.nvim_feedkeys(vim.keycode("<C-\\\\><C-n>"), "nx", false)
      end
      vim.cmd("silent! tabonly! | silent! only! | enew!")
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if buf ~= vim.api.nvim_get_current_buf() then
          vim.api.nvim_buf_delete(buf, { force = true })
        end
      end`);
  }
}

type Tests = (session: Session, version: NeovimVersion) => void;
type Options = Omit<NeovimOptions, "version"> & { client?: string };

/** Runs a block of tests once on each Neovim of this run, with a session that lives as long as the block. */
export function onEachNeovim(tests: Tests, options: Options = {}): void {
  onNeovims(NEOVIMS, tests, options);
}

/** The same on both in each run: for Lua code that differs for an older Neovim. */
export function onBothNeovims(tests: Tests, options: Options = {}): void {
  onNeovims(BOTH_NEOVIMS, tests, options);
}

/** The same only on the newest, for what depends on the executable and not on the editor. */
export function onNewestNeovim(tests: Tests, options: Options = {}): void {
  onNeovims([NEWEST], tests, options);
}

function onNeovims(versions: NeovimVersion[], tests: Tests, options: Options): void {
  for (const version of versions) {
    describe(version.name, () => {
      const session = new Session();
      beforeAll(async () => {
        session.neovim = await TestNeovim.start({ version, ...options });
        session.lock = await session.neovim.lock();
        // The lock file comes before the executable attaches.
        await session.neovim.ready();
        session.client = await TestClient.open(session.lock, options.client);
      });
      afterAll(async () => {
        session.client?.close();
        await session.neovim?.[Symbol.asyncDispose]();
      });
      tests(session, version);
    });
  }
}
