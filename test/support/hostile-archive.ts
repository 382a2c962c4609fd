import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";

/** An entry that does not occur in releases. */
export interface HostileEntry {
  path: string;
  /** As in the header of ustar: a file, a hard link, a symlink, a device. */
  kind?: "0" | "1" | "2" | "3";
  link?: string;
  mode?: number;
  content?: string;
}

export interface HostileArchive {
  bytes: Buffer;
  sha256: string;
  size: number;
}

const BLOCK = 512;

/** Only that entry, or that entry followed by all of the archive `before`. */
export function hostileArchive(entry: HostileEntry, before?: string): HostileArchive {
  const content = Buffer.from(entry.content ?? "");
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  const rest = before ? gunzipSync(readFileSync(before)) : Buffer.alloc(2 * BLOCK);
  const bytes = gzipSync(Buffer.concat([header(entry, content.length), content, padding, rest]));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { bytes, sha256, size: bytes.length };
}

function header({ path, kind = "0", link = "", mode = 0o644 }: HostileEntry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    void block.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  block.write(path, 0, "utf8");
  octal(mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(946_684_800, 136, 11);
  block.write(`        ${kind}`, 148, "latin1");
  block.write(link, 157, "utf8");
  block.write("ustar\x0000", 257, "latin1");
  octal(1, 329, 7);
  octal(3, 337, 7);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}
