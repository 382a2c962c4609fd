import { deflateRawSync } from "node:zlib";
import type { Entry } from "./tar";

/** 1980-01-01, the first day that a zip file can name. */
const DATE = 0x0021;
const DEFLATED = 8;
const UTF8_NAMES = 0x0800;
const UNIX = 3;

/** A zip file that depends on nothing but the entries (PKWARE's APPNOTE 6.3), for winget. */
export function zip(entries: Entry[]): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of sorted) {
    const body = deflateRawSync(entry.content, { level: 9 });
    const name = Buffer.from(entry.path);
    const common = commonFields(entry, body.length, name.length);
    const head = Buffer.concat([u32(0x04034b50), u16(20), common, name]);
    const mode = (entry.executable ? 0o100755 : 0o100644) * 0x10000;
    const tail = [u16(0), u16(0), u16(0), u32(mode), u32(offset), name];
    const made = u16((UNIX << 8) | 20);
    directory.push(Buffer.concat([u32(0x02014b50), made, u16(20), common, ...tail]));
    files.push(head, body);
    offset += head.length + body.length;
  }
  const index = Buffer.concat(directory);
  const count = u16(sorted.length);
  const end = [
    u32(0x06054b50),
    u16(0),
    u16(0),
    count,
    count,
    u32(index.length),
    u32(offset),
    u16(0),
  ];
  return Buffer.concat([...files, index, ...end]);
}

/** What a file's own head and its line in the directory have in common. */
function commonFields({ content }: Entry, compressed: number, nameBytes: number): Buffer {
  return Buffer.concat([
    ...[u16(UTF8_NAMES), u16(DEFLATED), u16(0), u16(DATE), u32(Bun.hash.crc32(content))],
    ...[u32(compressed), u32(content.length), u16(nameBytes), u16(0)],
  ]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
