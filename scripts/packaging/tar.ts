/** One file of an archive. */
export interface Entry {
  /** Uses `/`. Has at most 255 bytes, and at most 100 bytes after one of the `/`. */
  path: string;
  content: Uint8Array;
  executable: boolean;
}

const BLOCK = 512;
/** 2000-01-01 in seconds. Some programs warn about files from 1970. */
const MODIFIED = 946_684_800;

/** A POSIX tar archive ("ustar"). It depends only on the entries: not on times, owners, or the order of a folder. */
export function tar(entries: Entry[]): Uint8Array<ArrayBuffer> {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const parts: Uint8Array[] = [];
  for (const entry of sorted) {
    const padding = (BLOCK - (entry.content.length % BLOCK)) % BLOCK;
    parts.push(header(entry), entry.content, Buffer.alloc(padding));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts) as Uint8Array<ArrayBuffer>;
}

function header(entry: Entry): Buffer {
  const { prefix, name } = split(entry.path);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    void block.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  block.write(name, 0, "utf8");
  octal(entry.executable ? 0o755 : 0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(entry.content.length, 124, 11);
  octal(MODIFIED, 136, 11);
  block.write("        0", 148, "latin1"); // the checksum counts as spaces; 0: a file
  block.write("ustar\x0000", 257, "latin1");
  block.write(prefix, 345, "utf8");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function split(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { prefix, name };
  }
  throw new Error(`a path too long for an archive: ${path}`);
}
