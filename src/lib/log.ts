import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { stateFolder } from "./paths";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const STATE_LOG_BYTES = 1024 * 1024;

export interface LogOptions {
  file?: string | undefined;
  level?: LogLevel | undefined;
  /** A longer file is moved to NAME.old first, where one that was there is lost. */
  limitBytes?: number;
}

/**
 * Writes single lines, `TIME LEVEL message`, to a file, or to stderr where there is none.
 * Tokens and file contents never go in here. Logging never throws: a full disk must not end a session.
 */
export class Log {
  readonly #threshold: number;
  #file: string | undefined;

  constructor(options: LogOptions = {}) {
    this.#threshold = LOG_LEVELS.indexOf(options.level ?? "info");
    this.#file = options.file;
    if (this.#file) {
      try {
        mkdirSync(dirname(this.#file), { recursive: true });
        if (options.limitBytes) shorten(this.#file, options.limitBytes);
      } catch {
        this.#file = undefined;
      }
    }
  }

  debug(message: string): void {
    this.#write("debug", message);
  }

  info(message: string): void {
    this.#write("info", message);
  }

  warn(message: string): void {
    this.#write("warn", message);
  }

  error(message: string): void {
    this.#write("error", message);
  }

  #write(level: LogLevel, message: string): void {
    if (LOG_LEVELS.indexOf(level) < this.#threshold) return;
    const line = `${new Date().toISOString()} ${level.toUpperCase()} ${message.replaceAll("\n", "\\n")}\n`;
    try {
      if (this.#file) appendFileSync(this.#file, line, { mode: 0o600 });
      else process.stderr.write(line);
    } catch {
      // Nowhere left to say it.
    }
  }
}

/** A log of our own in the state folder; it is kept short. */
export function stateLog(name: string): Log {
  return new Log({ file: join(stateFolder(), name), limitBytes: STATE_LOG_BYTES });
}

function shorten(file: string, limitBytes: number): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > limitBytes) renameSync(file, `${file}.old`);
}
