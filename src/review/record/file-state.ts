import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { readRegular } from "../../lib/read-regular";
import { type Blobs, hashOf, MOST_TEXT_BYTES } from "../journal/blobs";
import type { Content } from "../journal/record";
import type { Privacy } from "./privacy";

/** Above this even the hash costs too much time. */
const MOST_HASHED_BYTES = 64 * 1024 * 1024;

/** What a path holds on disk now. */
export interface FileState {
  content: Content;
  symlink: boolean;
  /** Undefined for a file that is absent. */
  stats: Stats | undefined;
  /** Of a file, or a symlink's target; undefined where it is not kept. */
  bytes: Uint8Array | undefined;
}

/**
 * Reads a path, and keeps what it holds; `known` stands for a file that still has its stamp. Undefined for what is neither a file nor a symlink: a folder,
 * a socket. Throws the system's error (EACCES, ENOSPC, …).
 */
export function readState(
  path: string,
  blobs: Blobs,
  privacy: Privacy,
  known?: { content: Content; stamp: string },
): FileState | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return { content: { absent: true }, symlink: false, stats, bytes: undefined };
  const symlink = stats.isSymbolicLink();
  if (!symlink && !stats.isFile()) return undefined;
  if (privacy.isPrivate(path)) {
    return { content: { withheld: "private" }, symlink, stats, bytes: undefined };
  }
  if (known?.stamp === stampOf(stats)) {
    return { content: known.content, symlink, stats, bytes: undefined };
  }
  if (stats.size > MOST_TEXT_BYTES)
    return { content: large(path, stats), symlink, stats, bytes: undefined };
  const bytes = symlink ? Buffer.from(readlinkSync(path)) : readRegular(path);
  const content = blobs.put(bytes);
  return { content, symlink, stats, bytes };
}

function large(path: string, stats: Stats): Content {
  if (stats.size > MOST_HASHED_BYTES) return { withheld: "large" };
  return { withheld: "large", hash: hashOf(readRegular(path)) };
}

/** By what one sees that a file was not written to; "" for one that is absent. */
export function stampOf(stats: Stats | undefined): string {
  return stats ? `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}` : "";
}
