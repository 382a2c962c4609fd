import { lstatSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { below, type FileBelow } from "../../lib/below";
import { failureCode } from "../../lib/errors";
import { hashOf, MAX_TEXT_BYTES } from "../journal/blobs";
import type { Content } from "../journal/record";
import { stampOf } from "../state/contents";
import type { RecordedProject } from "./recorded-project";

/** Hashing a larger file takes too long. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

export interface FileState {
  content: Content;
  symlink: boolean;
  /** Undefined for a file that is absent. */
  stats: Stats | undefined;
  /** The file's content or the symlink's target; undefined if the review does not keep it. */
  bytes: Uint8Array | undefined;
}

const NONE = { symlink: false, stats: undefined, bytes: undefined };
const ABSENT: FileState = { content: { absent: true }, ...NONE };

/**
 * Reads a path below the root, and stores its content, or takes that of `known` if the file still has its
 * stamp. A folder counts as an absent file. Undefined for anything else, such as a socket. Throws the
 * system's error (EACCES, ENOSPC, …).
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

/** A file behind a symlink does not belong to the project, as in git. */
function readBelow(root: string, path: string): FileBelow | undefined {
  try {
    return below(root, path, (place) => place.read(MAX_HASHED_BYTES));
  } catch (error) {
    if (failureCode(error) === "outside") return undefined;
    throw error;
  }
}

/** The time (ms since the epoch) at which the file, or a folder above it, was last created, moved or changed. */
export function cameAt(root: string, relativePath: string): number {
  let time = 0;
  for (let path = relativePath; path !== "."; path = dirname(path)) {
    time = Math.max(time, lstatSync(join(root, path), { throwIfNoEntry: false })?.ctimeMs ?? 0);
  }
  return time;
}
