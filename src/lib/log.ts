import { closeSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { printError } from "./output";
import { stateFolder } from "./paths";
import { dirname, join } from "./platform";
import { APPENDING, makePrivateFolder } from "./private-folder";
import { visible } from "./visible";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Neovim writes to the same file, with the same limit (lua/claude-code/messages/log.lua). */
const FILE_BYTES = 5 * 1024 * 1024;
const STATE_LOG_BYTES = 1024 * 1024;
/** Limits a line, which may contain a client's text. */
const LINE_CHARACTERS = 4_000;
const MINUTE_MS = 60_000;
/** The limit of causes in a minute. */
const MAX_CAUSES = 100;

interface LogOptions {
  file?: string | undefined;
  level?: LogLevel;
  /** A longer file becomes NAME.old, and replaces the previous one. */
  limitBytes?: number;
}

/**
 * Writes lines, `TIME LEVEL message`, to a file, or else to stderr. Never pass it tokens or contents of files. It never
 * throws: a full disk must not end a session.
 *
 * Each cause gets one line a minute, since any program on the machine can cause lines by requests that we refuse. The
 * cause is the message, unless that contains a client's text.
 */
export class Log {
  readonly #threshold: number;
  readonly #limitBytes: number;
  /** The causes of this minute, which began at `#minute`. */
  readonly #causes = new Set<string>();
  #minute = 0;
  #file: string | undefined;

  constructor({ file, level = "info", limitBytes = FILE_BYTES }: LogOptions = {}) {
    this.#threshold = LOG_LEVELS.indexOf(level);
    this.#limitBytes = limitBytes;
    if (!file) return;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      this.#file = file;
    } catch {
      // The log goes to stderr.
    }
  }

  info(message: string, cause = message): void {
    this.#write("info", message, cause);
  }

  warn(message: string, cause = message): void {
    this.#write("warn", message, cause);
  }

  error(message: string, cause = message): void {
    this.#write("error", message, cause);
  }

  #write(level: LogLevel, message: string, cause: string): void {
    if (LOG_LEVELS.indexOf(level) < this.#threshold) return;
    if (this.#isFirst(cause)) this.#append(`${level.toUpperCase()} ${message}`);
  }

  #isFirst(cause: string): boolean {
    const now = Date.now();
    if (now - this.#minute > MINUTE_MS) {
      this.#causes.clear();
      this.#minute = now;
    }
    if (this.#causes.has(cause) || this.#causes.size >= MAX_CAUSES) return false;
    this.#causes.add(cause);
    return true;
  }

  #append(text: string): void {
    const line = visible(text.slice(0, LINE_CHARACTERS).replaceAll(/[\r\n]+/g, "\\n"));
    const stamped = `${new Date().toISOString()} ${line}\n`;
    try {
      if (!this.#file) return void printError(stamped);
      const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
      if (size > this.#limitBytes) renameSync(this.#file, `${this.#file}.old`);
      const file = openSync(this.#file, APPENDING, 0o600);
      try {
        writeSync(file, stamped);
      } finally {
        closeSync(file);
      }
    } catch {
      // There is no other place to report it.
    }
  }
}

/** A short log in the state folder, or on stderr if the folder belongs to another user. */
export function stateLog(name: string): Log {
  const folder = stateFolder();
  try {
    makePrivateFolder(folder);
    return new Log({ file: join(folder, name), limitBytes: STATE_LOG_BYTES });
  } catch {
    return new Log();
  }
}
