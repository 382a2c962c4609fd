import { lstatSync, type Stats } from "node:fs";
import { below, type Place } from "../../lib/below";
import { failureCode } from "../../lib/errors";
import { join } from "../../lib/platform";
import { type Blobs, hashOf, isBinary, MAX_TEXT_BYTES } from "../journal/blobs";
import type { Content } from "../journal/record";
import { blobOf, bytesOf, isText, type Lines, linesOf, opaqueLines } from "../weave/lines";

/** Converts the journal's contents to lines and back. */
export class Contents {
  constructor(private readonly blobs: Blobs) {}

  /** Undefined if we did not store the content: it is private, too large or unknown. */
  lines(content: Content): Lines | undefined {
    const bytes = this.blobs.bytes(content);
    if (bytes === undefined) return undefined;
    return bytes === null ? [] : asLines(bytes);
  }

  /** Undefined for lines that mix text and binary content. */
  bytes(lines: Lines): Uint8Array | undefined {
    const blob = blobOf(lines);
    if (blob !== undefined) return this.blobs.get(blob);
    return isText(lines) ? bytesOf(lines) : undefined;
  }

  /** Stores lines. Throws the system's error (ENOSPC, …). */
  put(lines: Lines): Content {
    if (lines.length === 0) return { absent: true };
    const blob = blobOf(lines);
    return blob === undefined ? this.blobs.put(bytesOf(lines)) : { blob };
  }
}

export function asLines(bytes: Uint8Array): Lines {
  return isBinary(bytes) ? opaqueLines(hashOf(bytes)) : linesOf(bytes);
}

/** Differs between an absent file and an empty one. */
export function hashOfLines(lines: Lines): string {
  return hashOf(Buffer.from(`${lines.length > 0}${lines.join("")}`, "latin1"));
}

/** The content of a path on disk. `stamp` changes with it. */
export type OnDisk =
  | { lines: Lines; mode: number | undefined; stamp: string }
  /** Completes "FILE …" in a message. */
  | { problem: string; stamp: string };

/**
 * Reads `path` below the root. The text of a symlink is its target. Returns `known`, without reading, if the file has
 * not changed since.
 */
export function readOnDisk(root: string, path: string, known?: OnDisk): OnDisk {
  try {
    const stamp = stampOf(lstatSync(join(root, path), { throwIfNoEntry: false }));
    return known?.stamp === stamp ? known : (below(root, path, read) ?? read(undefined));
  } catch (error) {
    if (failureCode(error) === "outside")
      return { problem: "is not inside the project", stamp: "outside" };
    // For example, a folder above is unreadable, or a name is too long.
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return { lines: [], mode: undefined, stamp: code };
    return { problem: `cannot be read (${code})`, stamp: `${code}` };
  }
}

function read(place: Place | undefined): OnDisk {
  const stats = place?.stats();
  const stamp = stampOf(stats);
  // The file is gone, or a folder has replaced it.
  if (!stats || stats.isDirectory()) return { lines: [], mode: undefined, stamp };
  if (!stats.isSymbolicLink() && !stats.isFile()) return { problem: "is no longer a file", stamp };
  if (stats.size > MAX_TEXT_BYTES) return { problem: "is too large to compare", stamp };
  const found = place?.read(MAX_TEXT_BYTES);
  if (!found) return { lines: [], mode: undefined, stamp: "" };
  const { mode } = found.stats;
  const isLink = found.stats.isSymbolicLink();
  const content = isLink
    ? { lines: linesOf(found.bytes), mode: undefined }
    : { lines: asLines(found.bytes), mode: mode & 0o7777 };
  return { ...content, stamp: stampOf(found.stats) };
}

/** Changes when the file is written; "" for an absent file. */
export function stampOf(stats: Stats | undefined): string {
  return stats ? `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}` : "";
}
