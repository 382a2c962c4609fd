/** Zstandard (RFC 8878): a frame's first bytes, and the bits of its descriptor (section 3.1.1.1). */
const MAGIC = 0xfd2fb528;
const SINGLE_SEGMENT = 0x20;
const CHECKSUM = 0x04;
/** A block whose one byte is repeated (section 3.1.1.2). */
const RLE = 1;

/**
 * Expands what `Bun.zstdCompressSync` has made: one frame that says how much it holds, which the library
 * keeps to. Throws a RangeError for anything else, and for more than `mostBytes`, before it expands
 * anything: a few KB can hold gigabytes. (The limit of `node:zlib` takes 14 ms to load.)
 */
export function decompress(bytes: Buffer, mostBytes: number): Uint8Array {
  const size = contentSize(bytes);
  if (size === undefined || size > mostBytes) throw new RangeError(`it holds ${size} bytes`);
  return Bun.zstdDecompressSync(bytes);
}

/** Undefined where that is not said, or another frame follows. Throws a RangeError for half a frame. */
function contentSize(bytes: Buffer): number | undefined {
  if (bytes.readUInt32LE(0) !== MAGIC) return undefined;
  const descriptor = bytes.readUInt8(4);
  const isSingle = (descriptor & SINGLE_SEGMENT) !== 0;
  const length = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  // Behind the window's size and the dictionary's id; six bytes are as many as a number has.
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
