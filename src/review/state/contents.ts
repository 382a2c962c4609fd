import { type Blobs, hashOf, isBinary } from "../journal/blobs";
import type { Content } from "../journal/record";
import { blobOf, bytesOf, isText, type Lines, linesOf, opaqueLines } from "../weave/lines";

/** What the journal names as contents, as lines and back. */
export class Contents {
  constructor(private readonly blobs: Blobs) {}

  /** Undefined for what is not kept: private, too large, or unknown. */
  lines(content: Content): Lines | undefined {
    const bytes = this.blobs.bytes(content);
    if (bytes === undefined) return undefined;
    return bytes === null ? [] : asLines(bytes);
  }

  /** Undefined for lines that mix text with a binary content. */
  bytes(lines: Lines): Uint8Array | undefined {
    const blob = blobOf(lines);
    if (blob !== undefined) return this.blobs.get(blob);
    return isText(lines) ? bytesOf(lines) : undefined;
  }

  /** Keeps what lines hold. Throws the system's error (ENOSPC, …). */
  put(lines: Lines): Content {
    if (lines.length === 0) return { absent: true };
    const blob = blobOf(lines);
    return blob === undefined ? this.blobs.put(bytesOf(lines)) : { blob };
  }
}

export function asLines(bytes: Uint8Array): Lines {
  return isBinary(bytes) ? opaqueLines(hashOf(bytes)) : linesOf(bytes);
}

/** The same for the same text; an absent file has another one than an empty file. */
export function hashOfLines(lines: Lines): string {
  return hashOf(Buffer.from(`${lines.length > 0}${lines.join("")}`, "latin1"));
}
