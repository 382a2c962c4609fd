import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { replace } from "../../lib/atomic-write";
import { attempt } from "../../lib/errors";
import { dirname, join } from "../../lib/platform";
import { makePrivateFolder } from "../../lib/private-folder";
import { readRegular } from "../../lib/read-regular";
import type { Content } from "./record";

/** We keep only the hash of larger contents: the review lists them, but cannot undo them. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;
export const MAX_BINARY_BYTES = 2 * 1024 * 1024;
/** As in git, a NUL among these first bytes makes a content binary. */
const BINARY_BYTES = 8_000;
/** The fastest level, which still halves source code. */
const ZSTD_LEVEL = 1;

/** Stores the contents of one root's files, compressed with zstd, by their SHA-256: `blobs/ab/abcd…`. */
export class Blobs {
  readonly #folder: string;

  constructor(reviewFolder: string) {
    this.#folder = join(reviewFolder, "blobs");
  }

  /** Stores a content unless it is too large. Throws the system's error (ENOSPC, …). */
  put(bytes: Uint8Array): Content {
    const hash = hashOf(bytes);
    if (bytes.length > (isBinary(bytes) ? MAX_BINARY_BYTES : MAX_TEXT_BYTES)) {
      return { withheld: "large", hash };
    }
    this.#write(hash, bytes);
    return { blob: hash };
  }

  /** Undefined if the blob is missing or damaged. */
  get(hash: string): Uint8Array | undefined {
    const bytes = attempt(() => decompress(readRegular(this.path(hash)), MAX_TEXT_BYTES));
    return bytes && hashOf(bytes) === hash ? bytes : undefined;
  }

  /** The bytes of a content; null for an absent file, undefined if we do not keep the content. */
  bytes(content: Content): Uint8Array | null | undefined {
    if ("absent" in content) return null;
    return "blob" in content ? this.get(content.blob) : undefined;
  }

  path(hash: string): string {
    return join(this.#folder, hash.slice(0, 2), hash);
  }

  #write(hash: string, bytes: Uint8Array): void {
    const path = this.path(hash);
    if (existsSync(path)) {
      // Pruning spares recently used blobs: their records are about to be written.
      const now = new Date();
      return utimesSync(path, now, now);
    }
    makePrivateFolder(dirname(path));
    const packed = Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL });
    replace(path, (draft) => writeFileSync(draft, packed, { mode: 0o600 }));
  }
}

/** SHA-256 in lower-case hex digits. */
export function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** UTF-16 counts as binary, because a byte "\n" need not be a line end in it. */
export function isBinary(bytes: Uint8Array): boolean {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  return mark === 0xfeff || mark === 0xfffe || bytes.subarray(0, BINARY_BYTES).includes(0);
}

/** True only if the contents are known to be equal. */
export function sameContent(a: Content, b: Content): boolean {
  if ("absent" in a || "absent" in b) return "absent" in a && "absent" in b;
  const hash = knownHash(a);
  return hash !== undefined && hash === knownHash(b);
}

function knownHash(content: Content): string | undefined {
  if ("blob" in content) return content.blob;
  return "hash" in content ? content.hash : undefined;
}

/** Zstandard (RFC 8878): a frame's first bytes, and bits of its descriptor (section 3.1.1.1). */
const MAGIC = 0xfd2fb528;
const SINGLE_SEGMENT = 0x20;
const CHECKSUM = 0x04;
/** A block that repeats one byte (section 3.1.1.2). */
const RLE = 1;

/**
 * Expands one frame from `Bun.zstdCompressSync`, whose header has the content's size. A few KB can hold gigabytes, so it
 * throws a RangeError before expanding more than `mostBytes`, and for any other input. (`node:zlib`, which has a limit,
 * takes 14 ms to load.)
 */
export function decompress(bytes: Buffer, mostBytes: number): Uint8Array {
  const size = contentSize(bytes);
  if (size === undefined || size > mostBytes) throw new RangeError(`it holds ${size} bytes`);
  return Bun.zstdDecompressSync(bytes);
}

/** Undefined if the header lacks the size, or another frame follows. Throws a RangeError for half a frame. */
function contentSize(bytes: Buffer): number | undefined {
  if (bytes.readUInt32LE(0) !== MAGIC) return undefined;
  const descriptor = bytes.readUInt8(4);
  const isSingle = (descriptor & SINGLE_SEGMENT) !== 0;
  const length = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  // Skip the window's size and the dictionary's id. A number holds six bytes exactly.
  const at = 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (length === 0 || (length === 8 && bytes.readUInt16LE(at + 6) > 0)) return undefined;
  const size = bytes.readUIntLE(at, Math.min(length, 6)) + (length === 2 ? 256 : 0);
  const end = endOfBlocks(bytes, at + length) + (descriptor & CHECKSUM ? 4 : 0);
  return end === bytes.length ? size : undefined;
}

function endOfBlocks(bytes: Buffer, first: number): number {
  for (let at = first; ; ) {
    const header = bytes.readUIntLE(at, 3);
    at += 3 + (((header >> 1) & 3) === RLE ? 1 : header >> 3);
    if (header & 1) return at;
  }
}
