import { homedir } from "node:os";
import { claudeFolder } from "../claude/config-dir";
import { OwnFile } from "../lib/atomic-write";
import { Emitter } from "../lib/emitter";
import { message } from "../lib/errors";
import { readJson } from "../lib/json";
import type { Log } from "../lib/log";
import { PathWatch } from "../lib/path-watch";
import { type Environment, isThere, namesIn, removeFile, stateFolder } from "../lib/paths";
import { basename, IS_WINDOWS, join, native, normal } from "../lib/platform";
import { isAlive, processDomain } from "../lib/process";

const IDE_NAME = "Neovim";
/** Longer than any editor's lock file. */
const MAX_BYTES = 256 * 1024;

/** Holds the sockets at which executables serve mods in CLIs. */
export function modFolder(): string {
  return join(stateFolder(), "mod");
}

/** Containers may share the folder: a process id is valid in its domain only. */
export function modSocket(pid = process.pid): string {
  const domain = Bun.CryptoHasher.hash("sha256", processDomain(), "hex").slice(0, 8);
  return join(modFolder(), `${pid}-${domain}.sock`);
}

/** The content of a lock file (spec 01, Lock File Discovery). Paths are real paths. */
export interface LockContent {
  /** Missing if the editor runs elsewhere: the CLI (2.1.330) then checks that the port answers. */
  pid?: number | undefined;
  workspaceFolders: string[];
  ideName: string;
  transport: "ws";
  runningInWindows: boolean;
  authToken: string;
  /** Path of the socket for the mod in the CLI, if it can connect; Claude Code ignores it (2.1.332). */
  modSocket: string | undefined;
}

/** The readable parts of any editor's lock file. */
export interface Lock {
  path: string;
  port: number;
  /** Why Claude Code cannot use it; undefined if it can. */
  problem?: string;
  pid?: number;
  ideName?: string;
  folders: string[];
  /** Claude Code can use it, and the process that it names is running. It need not name one. */
  alive: boolean;
}

export function lockFolder(env: Environment = process.env, home: string = homedir()): string {
  return join(claudeFolder(env, home), "ide");
}

/**
 * The folders in which a Claude CLI with this environment looks for lock files. If CLAUDE_CONFIG_DIR is set, it still
 * looks in the default folder, too (measured with 2.1.330).
 */
export function lockFolders(env: Environment, home: string): string[] {
  return [...new Set([lockFolder(env, home), lockFolder({}, home)])];
}

/** Empty if the folder does not exist. */
export function readLocks(folder: string = lockFolder()): Lock[] {
  return namesIn(folder)
    .filter((name) => /^\d+\.lock$/.test(name))
    .map((name) => readLock(join(folder, name)));
}

/** Never throws: `problem` says what is wrong. It is "missing" if there is no file. */
export function readLock(path: string): Lock {
  const lock: Lock = { path, port: Number.parseInt(basename(path), 10), folders: [], alive: false };
  const content = readJson(path, MAX_BYTES);
  const { pid, ideName, workspaceFolders: folders, authToken } = content ?? {};
  if (typeof pid === "number") lock.pid = pid;
  lock.ideName = String(ideName);
  if (Array.isArray(folders))
    lock.folders = folders.filter((one) => typeof one === "string").map(normal);
  if (typeof authToken !== "string" || (pid !== undefined && lock.pid === undefined))
    return { ...lock, problem: isThere(path) ? "it is not an editor's lock file" : "missing" };
  return { ...lock, alive: lock.pid === undefined || isAlive(lock.pid) };
}

/** Does another program's lock file, one without these tokens, name the port? Looks where a CLI looks. */
export function isNamed(port: number, ownTokens: readonly string[]): boolean {
  return lockFolders(process.env, homedir()).some((folder) => {
    const path = join(folder, `${port}.lock`);
    return isThere(path) && !ownTokens.includes(tokenIn(path));
  });
}

/** Removes lock files of dead Neovims and of our own earlier executables. Returns the paths. Never throws. */
export function sweepStaleLocks(
  folder: string = lockFolder(),
  own?: { port: number; token: string },
): string[] {
  const isOurs = ({ path, port }: Lock) =>
    own !== undefined && port !== own.port && own.token === tokenIn(path);
  const isDead = ({ pid }: Lock) => pid !== undefined && !isAlive(pid);
  return readLocks(folder)
    .filter((lock) => lock.ideName === IDE_NAME && (isDead(lock) || isOurs(lock)))
    .map(({ path }) => path)
    .filter(removeFile);
}

function tokenIn(path: string): string {
  return String(readJson(path, MAX_BYTES)?.authToken);
}

/** The interval of retries, in ms, while the lock file cannot be written. */
const RETRY_MS = 5_000;
/** The delay after an event, in ms: replacing a file causes several events. */
const FOLD_MS = 50;

interface LockKeeperOptions {
  port: number;
  token: string;
  /** Neovim's process id. Claude Code deletes the lock file if it is not alive. Undefined if Neovim runs elsewhere. */
  pid?: number;
  folders: readonly string[];
  servesMods: boolean;
  log: Log;
}

/** Keeps our lock file while we serve: updates its workspace folders, and writes it again if it is removed. */
export class LockKeeper {
  /** Emits `problem` when it changes. */
  readonly onProblem = new Emitter<string | undefined>();
  readonly #lock: OwnFile;
  readonly #options: LockKeeperOptions;
  readonly #watch = new PathWatch(() => this.#soon());
  readonly #folder: string;
  #event: Timer | undefined;
  #retry: Timer | undefined;
  #folders: readonly string[];
  /** A sentence for the user if the lock file cannot be written. */
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
    // The file may have changed before the watch began.
    this.#write();
    clearTimeout(this.#retry);
    // Without a pid, several machines or containers may share the folder, and then it may report no events.
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
    const { pid, token, servesMods } = this.#options;
    try {
      const content: LockContent = {
        pid,
        workspaceFolders: this.#folders.map(native),
        ideName: IDE_NAME,
        transport: "ws",
        runningInWindows: IS_WINDOWS,
        authToken: token,
        modSocket: servesMods ? native(modSocket()) : undefined,
      };
      this.#lock.write(JSON.stringify(content));
      return undefined;
    } catch (error) {
      return `The lock file ${this.path} cannot be written: ${message(error)}`;
    }
  }
}
