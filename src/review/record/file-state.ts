import { lstatSync, type Stats } from "node:fs";
import { below, type FileBelow } from "../../lib/below";
import { failureCode } from "../../lib/errors";
import { dirname, join } from "../../lib/platform";
import { hashOf, MAX_TEXT_BYTES } from "../journal/blobs";
import type { Content } from "../journal/record";
import { stampOf } from "../state/contents";
import type { RecordedProject } from "./recorded-project";

/** Hashing a larger file takes too long. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

export interface FileState {
  content: Content;
  symlink: boolean;
  /** Undefined if the file does not exist. */
  stats: Stats | undefined;
  /** The file's content or the symlink's target; undefined if we did not read it, or do not keep it. */
  bytes: Uint8Array | undefined;
}

const NONE = { symlink: false, stats: undefined, bytes: undefined };
const ABSENT: FileState = { content: { absent: true }, ...NONE };

/**
 * Reads a path below the root and stores its content. If the file still has the stamp of `known`, takes that content
 * without reading. A folder counts as an absent file. Returns undefined for other kinds of files, for example a socket.
 * Throws the system's error (EACCES, ENOSPC, …).
 */
export function readState(
  { root, blobs, privacy }: RecordedProject,
  relativePath: string,
  known?: { content: Content; stamp: string },
): FileState | undefined {
  const path = join(root, relativePath);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isDirectory()) return ABSENT;
  const symlink = stats.isSymbolicLink();
  if (!symlink && !stats.isFile()) return undefined;
  const unread = (content: Content) => ({ content, symlink, stats, bytes: undefined });
  if (privacy.isPrivate(path)) return unread({ withheld: "private" });
  if (known?.stamp === stampOf(stats)) return unread(known.content);
  if (stats.size > MAX_HASHED_BYTES) return unread({ withheld: "large" });
  const found = readBelow(root, relativePath);
  if (!found) return ABSENT;
  const { bytes } = found;
  if (bytes.length > MAX_TEXT_BYTES) return unread({ withheld: "large", hash: hashOf(bytes) });
  return { ...found, content: blobs.put(bytes), symlink: found.stats.isSymbolicLink() };
}

/** As in git, a file behind a symlink does not belong to the project. */
function readBelow(root: string, path: string): FileBelow | undefined {
  try {
    return below(root, path, (place) => place.read(MAX_HASHED_BYTES));
  } catch (error) {
    if (failureCode(error) === "outside") return undefined;
    throw error;
  }
}

/** When the file, or a folder above it, was last created, moved or changed, in ms since the epoch. */
export function cameAt(root: string, relativePath: string): number {
  let time = 0;
  for (let path = relativePath; path !== "."; path = dirname(path)) {
    time = Math.max(time, lstatSync(join(root, path), { throwIfNoEntry: false })?.ctimeMs ?? 0);
  }
  return time;
}
