import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { replace } from "../../lib/atomic-write";
import { makePrivateFolder } from "../../lib/private-folder";
import { readRegular } from "../../lib/read-regular";
import { decompress } from "../../lib/zstd";
import type { Content } from "./record";

/** Above these sizes a content is not kept, only its hash: it can be listed, and not be undone. */
export const MOST_TEXT_BYTES = 10 * 1024 * 1024;
export const MOST_BINARY_BYTES = 2 * 1024 * 1024;
/** As git decides: a NUL among the first bytes. */
const BINARY_BYTES = 8_000;
/** The fastest that still halves source code. */
const ZSTD_LEVEL = 1;

/** The contents of one root's files, each once, by its SHA-256: `blobs/ab/abcd…`, zstd. */
export class Blobs {
  readonly #folder: string;

  constructor(reviewFolder: string) {
    this.#folder = join(reviewFolder, "blobs");
  }

  /** Keeps a content, unless it is too large for that. Throws the system's error (ENOSPC, …). */
  put(bytes: Uint8Array): Content {
    const hash = hashOf(bytes);
    if (bytes.length > (isBinary(bytes) ? MOST_BINARY_BYTES : MOST_TEXT_BYTES)) {
      return { withheld: "large", hash };
    }
    this.#write(hash, bytes);
    return { blob: hash };
  }

  /** Undefined where it is not there any more, or is damaged. */
  get(hash: string): Uint8Array | undefined {
    try {
      const bytes = decompress(readRegular(this.path(hash)), MOST_TEXT_BYTES);
      return hashOf(bytes) === hash ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** The bytes of a content; null for a file that is absent, undefined for what is not kept. */
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
      // Whoever prunes leaves alone what was used lately: its record is about to be written.
      const now = new Date();
      return utimesSync(path, now, now);
    }
    makePrivateFolder(dirname(path));
    const packed = Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL });
    replace(path, (draft) => writeFileSync(draft, packed, { mode: 0o600 }));
  }
}

/** In lower-case hex digits. */
export function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** So is UTF-16: a byte "\n" need not be a line end there. */
export function isBinary(bytes: Uint8Array): boolean {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  return mark === 0xfeff || mark === 0xfffe || bytes.subarray(0, BINARY_BYTES).includes(0);
}

/** Whether two contents are known to be the same. */
export function sameContent(a: Content, b: Content): boolean {
  if ("absent" in a || "absent" in b) return "absent" in a && "absent" in b;
  const hash = knownHash(a);
  return hash !== undefined && hash === knownHash(b);
}

function knownHash(content: Content): string | undefined {
  if ("blob" in content) return content.blob;
  return "hash" in content ? content.hash : undefined;
}
