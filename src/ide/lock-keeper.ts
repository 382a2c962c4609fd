import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { IDE_NAME, LockFile } from "./lock-file";

/** How often the lock file is rewritten if it is gone or could not be written. */
const REWRITE_MS = 5_000;

export interface LockKeeperOptions {
  port: number;
  token: string;
  /** Neovim's process id: Claude Code deletes lock files of processes that are not alive. */
  pid: number;
  folders: readonly string[];
  log: Log;
}

/** Our lock file for as long as we serve: follows the workspace and comes back if it is removed. */
export class LockKeeper {
  readonly #lock: LockFile;
  readonly #options: LockKeeperOptions;
  readonly #timer: Timer;
  #folders: readonly string[];
  #problem: string | undefined;

  constructor(options: LockKeeperOptions) {
    this.#options = options;
    this.#folders = options.folders;
    this.#lock = new LockFile(options.port);
    this.#write();
    this.#timer = setInterval(() => this.#write(), REWRITE_MS);
  }

  get path(): string {
    return this.#lock.path;
  }

  /** Why there is no lock file, in a sentence for the user; undefined if there is one. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Real paths, the current working directory first. */
  follow(folders: readonly string[]): void {
    this.#folders = folders;
    this.#write();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#lock.remove();
  }

  #write(): void {
    const { pid, token, log } = this.#options;
    try {
      this.#lock.write({
        pid,
        workspaceFolders: [...this.#folders],
        ideName: IDE_NAME,
        transport: "ws",
        runningInWindows: process.platform === "win32",
        authToken: token,
      });
      if (this.#problem) log.info(`The lock file is written again: ${this.path}`);
      this.#problem = undefined;
    } catch (error) {
      const problem = `The lock file ${this.path} cannot be written: ${message(error)}`;
      if (problem !== this.#problem) log.error(problem);
      this.#problem = problem;
    }
  }
}
