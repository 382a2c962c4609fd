import { readRegular } from "../lib/read-regular";
import type { FileVersion } from "./project-files";

/** Files with more are no sources, and are not looked into. */
export const MOST_BYTES = 1024 * 1024;
/** For more, the index would take tens of megabytes. */
const MOST_FILES = 20_000;
/** So many are read while a question waits: more than an edit changes. */
const MOST_AT_ONCE = 50;
/** Reading goes on for so long before anything else gets its turn. */
const SLICE_MS = 10;

interface Entry {
  version: FileVersion;
  /** Hashes of the file's words, each once. */
  words: Uint32Array;
}

/** In which files of a project a word may stand, without reading them each time. */
export class WordIndex {
  readonly #entries = new Map<string, Entry>();
  #reading: Promise<void> | undefined;

  /**
   * The files that hold the name, and perhaps some others. Undefined where that is not known: there are
   * too many files, or they are still read, or the name has no ASCII letter.
   */
  filesWith(name: string, files: ReadonlyMap<string, FileVersion>): string[] | undefined {
    const wanted = words(Buffer.from(name));
    if (wanted.length === 0 || !this.prepare(files)) return undefined;
    const found: string[] = [];
    for (const path of files.keys()) {
      const entry = this.#entries.get(path);
      if (entry && wanted.every((word) => entry.words.includes(word))) found.push(path);
    }
    return found;
  }

  /** Reads what has changed, now if that is little, else in the background. True: all is read. */
  prepare(files: ReadonlyMap<string, FileVersion>): boolean {
    if (this.#reading || files.size > MOST_FILES) return false;
    const changed = [...files].filter(
      ([path, version]) => this.#entries.get(path)?.version !== version,
    );
    if (changed.length > MOST_AT_ONCE) {
      this.#reading = this.#read(changed).finally(() => {
        this.#reading = undefined;
      });
      return false;
    }
    for (const [path, version] of changed) this.#add(path, version);
    if (this.#entries.size > files.size) {
      for (const path of this.#entries.keys()) if (!files.has(path)) this.#entries.delete(path);
    }
    return true;
  }

  async #read(files: readonly [string, FileVersion][]): Promise<void> {
    let began = performance.now();
    for (const [path, version] of files) {
      this.#add(path, version);
      if (performance.now() - began < SLICE_MS) continue;
      await new Promise(setImmediate);
      began = performance.now();
    }
  }

  #add(path: string, version: FileVersion): void {
    this.#entries.set(path, { version, words: words(bytesOf(path)) });
  }
}

function bytesOf(path: string): Uint8Array {
  try {
    const bytes = readRegular(path, MOST_BYTES);
    return bytes.includes(0) ? new Uint8Array() : bytes;
  } catch {
    return new Uint8Array();
  }
}

const IS_WORD = Uint8Array.from({ length: 256 }, (_, byte) =>
  /\w/.test(String.fromCharCode(byte)) && byte < 128 ? 1 : 0,
);

/** FNV-1a of each run of ASCII letters, digits and underscores. */
function words(bytes: Uint8Array): Uint32Array {
  const found = new Set<number>();
  let hash = 0;
  let length = 0;
  for (let i = 0; i <= bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (IS_WORD[byte]) {
      hash = Math.imul((length === 0 ? 0x811c9dc5 : hash) ^ byte, 0x01000193);
      length++;
    } else if (length > 0) {
      found.add(hash >>> 0);
      length = 0;
    }
  }
  return Uint32Array.from(found);
}
