import { createHash } from "node:crypto";

/**
 * Code signatures of macOS executables: little-endian 64-bit Mach-O files with a big-endian signature. Apple's
 * <mach-o/loader.h> and <kern/cs_blobs.h> have the layouts.
 */
const MAGIC_64 = 0xfeedfacf;
const HEADER_BYTES = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const LC_BUILD_VERSION = 0x32;

const ARM64 = 0x0100000c;
const WRITE_AND_EXECUTE = 6;
const SIGNATURE_ALIGNMENT = 16;

const EMBEDDED_SIGNATURE = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const CODE_DIRECTORY_SLOT = 0;
/** Version 2.4 of the directory is the first with the limits of the executable segment. */
const DIRECTORY_VERSION = 0x20400;
const DIRECTORY_BYTES = 88;
const ADHOC_LINKER_SIGNED = 0x20002;
const MAIN_BINARY = 1;
const SHA256 = 2;
const HASH_BYTES = 32;
const PAGE_BITS = 12;

interface Command {
  kind: number;
  /** The offset of the load command in the file. */
  at: number;
}

interface SignaturePlace {
  command: number;
  /** The signature's offset in the file; it signs all bytes before. */
  offset: number;
  size: number;
}

/** A sentence that says why macOS would not load the file: dyld refuses its segments, or the kernel its signature. */
export function loadProblem(file: Buffer): string | undefined {
  return segmentProblem(file) ?? signatureProblem(file);
}

/** The oldest macOS that loads the file, such as 13.0. */
export function oldestSystem(file: Buffer): string | undefined {
  for (const { kind, at } of commands(file)) {
    if (kind === LC_BUILD_VERSION)
      return `${file.readUInt16LE(at + 14)}.${file.readUInt8(at + 13)}`;
  }
  return undefined;
}

function segmentProblem(file: Buffer): string | undefined {
  const page = pageBytes(file);
  let end = 0;
  for (const { name, address, memory, offset, size, protection } of segments(file)) {
    if (size > memory) return `its segment ${name} is larger in the file than in memory`;
    if (address % page !== 0 || offset % page !== 0) return `its segment ${name} is not aligned`;
    if (address < end) return `its segment ${name} overlaps another one`;
    if (offset + size > file.length) return `its segment ${name} ends after the file`;
    if ((protection & WRITE_AND_EXECUTE) === WRITE_AND_EXECUTE) return "its code is writable";
    end = address + memory;
  }
  return undefined;
}

function signatureProblem(file: Buffer): string | undefined {
  const place = findSignature(file);
  if (!place) return "it has no code signature";
  if (place.offset % SIGNATURE_ALIGNMENT !== 0) return "its code signature is not aligned";
  if (place.offset + place.size !== file.length) return "its code signature is not its end";
  const linkedit = segment(file, "__LINKEDIT");
  if (linkedit.offset + linkedit.size !== file.length) return "its last segment is not its end";
  if (file.readUInt32BE(place.offset) !== EMBEDDED_SIGNATURE) return "its signature is unreadable";
  const directory = findDirectory(file, place);
  if (directory === undefined) return "its signature has no code directory";
  return directoryProblem(file, directory, place);
}

/**
 * Returns a Mach-O executable with a valid ad-hoc signature, unchanged if it has one. Bun (1.4.5) signs what it
 * compiles for arm64, but for x64 it leaves the signature of its own runtime. That does not cover the added program,
 * and macOS may kill the process.
 */
export function signedAdHoc(file: Buffer, identifier: string): Buffer {
  if (loadProblem(file) === undefined) return file;
  const place = findSignature(file);
  if (!place) throw new Error("a Mach-O executable without room for a code signature");
  const size = signatureBytes(place.offset, identifier);
  const signed = Buffer.alloc(place.offset + size);
  file.copy(signed, 0, 0, place.offset);
  signed.writeUInt32LE(size, place.command + 12);
  const linkedit = segment(signed, "__LINKEDIT");
  const bytes = signed.length - linkedit.offset;
  const memory = Math.ceil(bytes / pageBytes(file)) * pageBytes(file);
  signed.writeBigUInt64LE(BigInt(memory), linkedit.at + 32);
  signed.writeBigUInt64LE(BigInt(bytes), linkedit.at + 48);
  writeSignature(signed, place.offset, identifier, segment(signed, "__TEXT").size);
  const problem = loadProblem(signed);
  if (problem) throw new Error(`macOS would not load the executable: ${problem}`);
  return signed;
}

/** A page of memory, by the processor. */
function pageBytes(file: Buffer): number {
  return file.readUInt32LE(4) === ARM64 ? 0x4000 : 0x1000;
}

function* commands(file: Buffer): Generator<Command> {
  if (file.length < HEADER_BYTES || file.readUInt32LE(0) !== MAGIC_64) {
    throw new Error("not a 64-bit Mach-O file");
  }
  const count = file.readUInt32LE(16);
  for (let i = 0, at = HEADER_BYTES; i < count; i++) {
    yield { kind: file.readUInt32LE(at), at };
    at += file.readUInt32LE(at + 4);
  }
}

function findSignature(file: Buffer): SignaturePlace | undefined {
  for (const { kind, at } of commands(file)) {
    if (kind !== LC_CODE_SIGNATURE) continue;
    return { command: at, offset: file.readUInt32LE(at + 8), size: file.readUInt32LE(at + 12) };
  }
  return undefined;
}

function* segments(file: Buffer) {
  for (const { kind, at } of commands(file)) {
    if (kind !== LC_SEGMENT_64) continue;
    const number = (from: number) => Number(file.readBigUInt64LE(at + from));
    yield {
      at,
      name: file.toString("latin1", at + 8, at + 24).replace(/\0+$/, ""),
      address: number(24),
      memory: number(32),
      /** In the file, as is the size. */
      offset: number(40),
      size: number(48),
      protection: file.readUInt32LE(at + 56),
    };
  }
}

function segment(file: Buffer, wanted: string) {
  for (const found of segments(file)) if (found.name === wanted) return found;
  throw new Error(`a Mach-O executable without a segment ${wanted}`);
}

/** The offset of the signature's code directory in the file. */
function findDirectory(file: Buffer, place: SignaturePlace): number | undefined {
  const count = file.readUInt32BE(place.offset + 8);
  for (let i = 0; i < count; i++) {
    const entry = place.offset + 12 + 8 * i;
    if (file.readUInt32BE(entry) !== CODE_DIRECTORY_SLOT) continue;
    const at = place.offset + file.readUInt32BE(entry + 4);
    return file.readUInt32BE(at) === CODE_DIRECTORY ? at : undefined;
  }
  return undefined;
}

function directoryProblem(file: Buffer, at: number, place: SignaturePlace): string | undefined {
  const slots = file.readUInt32BE(at + 28);
  const limit = file.readUInt32BE(at + 32);
  if ((file.readUInt32BE(at + 12) & 2) === 0) return "its signature is not ad-hoc";
  if (limit !== place.offset) return "its signature does not cover the whole file";
  if (file.readUInt8(at + 37) !== SHA256) return "its signature is not of SHA-256";
  const page = 1 << file.readUInt8(at + 39);
  if (slots !== Math.ceil(limit / page)) return "its signature has too few pages";
  const text = segment(file, "__TEXT");
  const signedText = [file.readBigUInt64BE(at + 64), file.readBigUInt64BE(at + 72)].map(Number);
  if (signedText[0] !== text.offset || signedText[1] !== text.size) {
    return "its signature names another code segment";
  }
  let hash = at + file.readUInt32BE(at + 16);
  for (let start = 0; start < limit; start += page, hash += HASH_BYTES) {
    const signed = file.subarray(hash, hash + HASH_BYTES);
    if (!sha256(file.subarray(start, Math.min(start + page, limit))).equals(signed)) {
      return `its signature does not match the bytes from ${start} on`;
    }
  }
  return undefined;
}

function pageCount(limit: number): number {
  return Math.ceil(limit / (1 << PAGE_BITS));
}

function signatureBytes(limit: number, identifier: string): number {
  return 20 + DIRECTORY_BYTES + identifier.length + 1 + HASH_BYTES * pageCount(limit);
}

/** Writes a signature of all bytes before `offset`, with the code directory as its only blob. */
function writeSignature(file: Buffer, offset: number, identifier: string, text: number): void {
  const at = offset + 20;
  const size = file.length - offset;
  writeWords(file, offset, [EMBEDDED_SIGNATURE, size, 1, CODE_DIRECTORY_SLOT, 20]);
  const hashes = DIRECTORY_BYTES + identifier.length + 1;
  writeWords(file, at, [
    ...[CODE_DIRECTORY, size - 20, DIRECTORY_VERSION, ADHOC_LINKER_SIGNED],
    ...[hashes, DIRECTORY_BYTES, 0, pageCount(offset), offset],
  ]);
  file.set([HASH_BYTES, SHA256, 0, PAGE_BITS], at + 36);
  // Base (0) and size of the segment with the code, and that this is a program.
  file.writeBigUInt64BE(BigInt(text), at + 72);
  file.writeBigUInt64BE(BigInt(MAIN_BINARY), at + 80);
  file.write(`${identifier}\0`, at + DIRECTORY_BYTES, "latin1");
  const page = 1 << PAGE_BITS;
  for (let start = 0, hash = at + hashes; start < offset; start += page, hash += HASH_BYTES) {
    sha256(file.subarray(start, Math.min(start + page, offset))).copy(file, hash);
  }
}

function writeWords(file: Buffer, at: number, words: number[]): void {
  for (const [i, word] of words.entries()) file.writeUInt32BE(word, at + 4 * i);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
