import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { attempt } from "./errors";

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The bytes of a regular file. A project may replace any file with a FIFO, a device, a file of /proc or a link to one:
 * a plain read of it may never return. O_NONBLOCK opens the file at once, and its size limits the read. Throws the
 * system's error, or an Error unless the file is regular and has at most `maxBytes`.
 */
export function readRegular(path: string, maxBytes = MAX_BYTES): Buffer {
  return withRegular(path, (file, size) => {
    if (size > maxBytes) throw new Error(`it has ${size} bytes`);
    return readRange(file, 0, size);
  });
}

/** The text of a regular file; undefined if it is not regular or cannot be read. */
export function readText(path: string, maxBytes?: number): string | undefined {
  return attempt(() => readRegular(path, maxBytes).toString());
}

/** Calls `read` with the open file and its size. `flags` are additional flags of open(2). */
export function withRegular<T>(
  path: string,
  read: (file: number, size: number) => T,
  flags = 0,
): T {
  // Windows has neither FIFOs nor O_NONBLOCK.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    return read(file, stats.size);
  } finally {
    closeSync(file);
  }
}

/** Undefined if the file does not exist. Throws the system's other errors. */
export function openIfThere(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The existing bytes of an open file between two offsets. Throws the system's error. */
export function readRange(file: number, from: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - from));
  let count = 0;
  while (count < bytes.length) {
    const read = readSync(file, bytes, count, bytes.length - count, from + count);
    if (read === 0) break;
    count += read;
  }
  return bytes.subarray(0, count);
}
