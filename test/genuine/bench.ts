import { afterAll, beforeAll } from "bun:test";
import { readFile, rm } from "node:fs/promises";
import type { NeovimVersion } from "#test";
import { join } from "../../src/lib/platform";
import { Claude } from "../support/claude";
import { newUser } from "../support/claude-home";
import { Model } from "../support/model";
import { type LockFile, lockFiles } from "./lock-file";
import { Neovim } from "./neovim";

interface Options {
  version: NeovimVersion;
  /** Texts by name, in the project; Neovim shows those of `shown`, or all, side by side. */
  files: Record<string, string>;
  shown?: string[];
  columns?: number;
  /** Arguments of the CLI. */
  args?: string[];
}

/** Both sides of a diff fit in the window of either of two files. */
const COLUMNS = 190;

/** A project, and three programs in it: the model's stand-in, Neovim, and the CLI with Neovim's port. */
export class Bench {
  readonly model = new Model();
  neovim!: Neovim;
  claude!: Claude;
  lock!: LockFile;
  #root!: string;

  protected constructor(private readonly options: Options) {
    beforeAll(() => this.#open());
    afterAll(async () => {
      await this.claude?.close();
      await this.neovim?.close();
      this.model.stop();
      await rm(this.#root, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  async #open(): Promise<void> {
    const { files, shown = Object.keys(files) } = this.options;
    this.#root = (await newUser(files)).root;
    await this.prepare();
    await this.startNeovim(shown);
    this.claude = await this.startClaude();
    await this.claude.waitForEditor();
  }

  /** Before Neovim starts. */
  protected async prepare(): Promise<void> {}

  get project(): string {
    return join(this.#root, "project");
  }

  get home(): string {
    return join(this.#root, "home");
  }

  path(name: string): string {
    return join(this.project, name);
  }

  onDisk(name: string): Promise<string> {
    return readFile(this.path(name), "utf8");
  }

  press(key: string): Promise<void> {
    return this.neovim.terminal.press(key);
  }

  async startNeovim(names: string[]): Promise<void> {
    const { project, home } = this;
    const { version, columns = COLUMNS } = this.options;
    const files = names.map((name) => this.path(name));
    this.neovim = await Neovim.start({ version, project, home, files, columns });
    const lock = async () => (await lockFiles(home))[0] ?? false;
    this.lock = await this.neovim.eventually("the lock file", lock);
  }

  /** `further` starts another CLI besides the first one, and is the name of its log. */
  startClaude(args = this.options.args ?? [], further?: string): Promise<Claude> {
    const { project, home, model, lock } = this;
    return Claude.start({
      project,
      home,
      model,
      port: lock.port,
      args,
      ...(further && { further }),
    });
  }
}
