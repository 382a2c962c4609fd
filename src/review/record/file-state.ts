import { lstatSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { readRegular } from "../../lib/read-regular";
import { hashOf, MOST_TEXT_BYTES } from "../journal/blobs";
import type { Content } from "../journal/record";
import { bytesAt, stampOf } from "../state/contents";
import type { RecordedProject } from "./recorded-project";

/** Above this even the hash costs too much time. */
const MOST_HASHED_BYTES = 64 * 1024 * 1024;

export interface FileState {
  content: Content;
  symlink: boolean;
  /** Undefined for a file that is absent. */
  stats: Stats | undefined;
  /** A file's, or a symlink's target; undefined where it is not kept. */
  bytes: Uint8Array | undefined;
}

/**
 * Reads a path below the root, and keeps what it holds; `known` stands for a file that still has its
 * stamp. Where a folder is, the file is absent. Undefined for what is neither: a socket. Throws the
 * system's error (EACCES, ENOSPC, …).
 */
export function readState(
  { root, blobs, privacy }: RecordedProject,
  relativePath: string,
  known?: { content: Content; stamp: string },
): FileState | undefined {
  const path = join(root, relativePath);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isDirectory())
    return { content: { absent: true }, symlink: false, stats: undefined, bytes: undefined };
  const symlink = stats.isSymbolicLink();
  if (!symlink && !stats.isFile()) return undefined;
  const unread = (content: Content) => ({ content, symlink, stats, bytes: undefined });
  if (privacy.isPrivate(path)) return unread({ withheld: "private" });
  if (known?.stamp === stampOf(stats)) return unread(known.content);
  if (stats.size > MOST_TEXT_BYTES) return unread(large(path, stats));
  const bytes = bytesAt(path, stats);
  return { content: blobs.put(bytes), symlink, stats, bytes };
}

/** When a file came to where it is: a folder that is moved takes it along. In ms since the epoch. */
export function cameAt(root: string, relativePath: string): number {
  let time = 0;
  for (let path = relativePath; path !== "."; path = dirname(path)) {
    time = Math.max(time, lstatSync(join(root, path), { throwIfNoEntry: false })?.ctimeMs ?? 0);
  }
  return time;
}

function large(path: string, stats: Stats): Content {
  if (stats.size > MOST_HASHED_BYTES) return { withheld: "large" };
  return { withheld: "large", hash: hashOf(readRegular(path)) };
}
