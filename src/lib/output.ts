import { writeSync } from "node:fs";

const STDOUT = 1;
const STDERR = 2;
/** The interval of retries, in ms, if the reader is slow. */
const RETRY_MS = 1;

/**
 * Writes `text` to stdout before it returns. `process.stdout` would load Node's streams and terminals. That takes 4 ms
 * of processor time (Bun 1.4.5), longer than the rest of a hook.
 */
export function print(text: string): void {
  write(STDOUT, text);
}

/** The same for stderr. */
export function printError(text: string): void {
  write(STDERR, text);
}

/** Returns without an error if the reader is gone. Throws the system's other errors. */
function write(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(RETRY_MS);
    }
  }
}
