import { join } from "node:path";
import { OwnFile } from "../lib/atomic-write";
import { Emitter } from "../lib/emitter";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch } from "../lib/path-watch";
import { IDE_NAME, type LockContent, lockFolder } from "./lock-file";

/** How often we try again while the lock file cannot be written. */
const RETRY_MS = 5_000;
/** How long after an event we look: a file that is replaced makes several. */
const FOLD_MS = 50;

interface LockKeeperOptions {
  port: number;
  token: string;
  /**
   * Neovim's process id: Claude Code deletes lock files of processes that are not alive. Undefined where
   * Neovim runs elsewhere.
   */
  pid?: number;
  folders: readonly string[];
  log: Log;
}

/** Our lock file for as long as we serve: follows the workspace and comes back if it is removed. */
export class LockKeeper {
  /** The `problem` is another one than before, or gone. */
  readonly onProblem = new Emitter<string | undefined>();
  readonly #lock: OwnFile;
  readonly #options: LockKeeperOptions;
  readonly #watch = new PathWatch(() => this.#soon());
  readonly #folder: string;
  #event: Timer | undefined;
  #retry: Timer | undefined;
  #folders: readonly string[];
  /** Why there is no lock file, in a sentence for the user; undefined if there is one. */
  problem: string | undefined;

  constructor(options: LockKeeperOptions) {
    this.#options = options;
    this.#folders = options.folders;
    this.#folder = lockFolder();
    this.#lock = new OwnFile(join(this.#folder, `${options.port}.lock`));
    this.#update();
  }

  get path(): string {
    return this.#lock.path;
  }

  /** Real paths, the current working directory first. */
  follow(folders: readonly string[]): void {
    this.#folders = folders;
    this.#update();
  }

  end(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#event);
    this.#watch.end();
    this.#lock.remove();
  }

  #soon(): void {
    this.#event ??= setTimeout(() => {
      this.#event = undefined;
      this.#update();
    }, FOLD_MS);
  }

  #update(): void {
    this.#write();
    this.#watch.follow([`${this.#folder}/`]);
    // What has changed before the watch began was missed.
    this.#write();
    clearTimeout(this.#retry);
    // A folder that several machines or containers share may report no events.
    if (this.problem || this.#options.pid === undefined)
      this.#retry = setTimeout(() => this.#update(), RETRY_MS);
  }

  #write(): void {
    const before = this.problem;
    this.problem = this.#problemOfWriting();
    if (this.problem === before) return;
    const { log } = this.#options;
    if (this.problem) log.error(this.problem);
    else log.info(`The lock file is written again: ${this.path}`);
    this.onProblem.emit(this.problem);
  }

  #problemOfWriting(): string | undefined {
    const { pid, token } = this.#options;
    try {
      const content: LockContent = {
        pid,
        workspaceFolders: [...this.#folders],
        ideName: IDE_NAME,
        transport: "ws",
        runningInWindows: process.platform === "win32",
        authToken: token,
      };
      this.#lock.write(JSON.stringify(content));
      return undefined;
    } catch (error) {
      return `The lock file ${this.path} cannot be written: ${message(error)}`;
    }
  }
}
