import { isDeepStrictEqual } from "node:util";
import { Emitter } from "../lib/emitter";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { IDE_NAME, LockFile } from "./lock-file";
import { findRivals, type Rival } from "./rivals";

/** How often the lock file is rewritten if it is gone or could not be written, and others are read. */
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
  /** The rivals are others than before. */
  readonly onRivals = new Emitter<readonly Rival[]>();
  /** The `problem` is another one than before, or gone. */
  readonly onProblem = new Emitter<string | undefined>();
  readonly #lock: LockFile;
  readonly #options: LockKeeperOptions;
  readonly #timer: Timer;
  #folders: readonly string[];
  #problem: string | undefined;
  #rivals: readonly Rival[] = [];

  constructor(options: LockKeeperOptions) {
    this.#options = options;
    this.#folders = options.folders;
    this.#lock = new LockFile(options.port);
    this.#update();
    this.#timer = setInterval(() => this.#update(), REWRITE_MS);
  }

  get path(): string {
    return this.#lock.path;
  }

  /** Why there is no lock file, in a sentence for the user; undefined if there is one. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Other editors with an overlapping workspace, as last looked for. */
  get rivals(): readonly Rival[] {
    return this.#rivals;
  }

  /** Real paths, the current working directory first. */
  follow(folders: readonly string[]): void {
    this.#folders = folders;
    this.#update();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#lock.remove();
  }

  #update(): void {
    this.#write();
    const rivals = findRivals(this.#options.pid, this.#folders);
    if (isDeepStrictEqual(rivals, this.#rivals)) return;
    this.#rivals = rivals;
    this.onRivals.emit(rivals);
  }

  #write(): void {
    const before = this.#problem;
    this.#problem = this.#problemOfWriting();
    if (this.#problem === before) return;
    const { log } = this.#options;
    if (this.#problem) log.error(this.#problem);
    else log.info(`The lock file is written again: ${this.path}`);
    this.onProblem.emit(this.#problem);
  }

  #problemOfWriting(): string | undefined {
    const { pid, token } = this.#options;
    try {
      this.#lock.write({
        pid,
        workspaceFolders: [...this.#folders],
        ideName: IDE_NAME,
        transport: "ws",
        runningInWindows: process.platform === "win32",
        authToken: token,
      });
      return undefined;
    } catch (error) {
      return `The lock file ${this.path} cannot be written: ${message(error)}`;
    }
  }
}
