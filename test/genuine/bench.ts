import { afterAll, beforeAll } from "bun:test";
import type { NeovimVersion } from "#test";
import { Claude } from "../support/claude";
import { Model } from "../support/model";
import { type LockFile, lockFiles } from "./lock-file";
import { Neovim } from "./neovim";
import { User } from "./user";

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
export class Bench extends User {
  readonly model = new Model();
  neovim!: Neovim;
  claude!: Claude;
  lock!: LockFile;

  protected constructor(private readonly options: Options) {
    super();
    beforeAll(() => this.#open());
    afterAll(async () => {
      await this.claude?.close();
      await this.neovim?.close();
      this.model.stop();
      await this.leave();
    });
  }

  async #open(): Promise<void> {
    const { files, shown = Object.keys(files) } = this.options;
    await this.arrive(files);
    await this.prepare();
    await this.startNeovim(shown);
    this.claude = await this.startClaude();
    await this.claude.waitForEditor();
  }

  /** Before Neovim starts. */
  protected async prepare(): Promise<void> {}

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
