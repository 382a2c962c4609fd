import { decodeMultiStream } from "@msgpack/msgpack";

/**
 * Neovim's strings are bytes: a file's name, a linter's message or a binary buffer need not be
 * UTF-8. What is none becomes U+FFFD. A byte order mark is text like any other.
 */
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Of the keys that come again and again: ours are some hundred. */
const MOST_KEYS = 1_000;
const keys = new Map<number, { bytes: Uint8Array; text: string }>();

function key(bytes: Uint8Array): string {
  const text = UTF8.decode(bytes);
  return text === "__proto__" ? "(__proto__)" : text;
}

/** A thousand diagnostics have eight thousand keys, which would take as long to decode as all the rest. */
function knownKey(message: Uint8Array, start: number, length: number): string {
  let hash = length;
  for (let i = start; i < start + length; i++) {
    hash = (Math.imul(hash, 31) + (message[i] as number)) | 0;
  }
  const known = keys.get(hash);
  if (known && isAt(known.bytes, message, start, length)) return known.text;
  const bytes = message.slice(start, start + length);
  const text = key(bytes);
  if (keys.size < MOST_KEYS) keys.set(hash, { bytes, text });
  return text;
}

function isAt(bytes: Uint8Array, message: Uint8Array, start: number, length: number): boolean {
  if (bytes.length !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[i] !== message[start + i]) return false;
  return true;
}

/** A longer key is not the plugin's, and would only keep memory. */
const LONGEST_KEY = 32;

const OPTIONS = {
  rawStrings: true,
  keyDecoder: {
    canBeCached: () => true,
    decode: (message: Uint8Array, start: number, length: number) =>
      length <= LONGEST_KEY
        ? knownKey(message, start, length)
        : key(message.subarray(start, start + length)),
  },
};

/**
 * The msgpack messages that come in on a socket. Their strings are decoded here, since the package
 * decodes short ones without a look at their end: after an é in Latin-1 it takes the next two
 * characters, or the next field, for the rest of one. So are keys: those of a language server's edit are
 * its own, and the package takes none called `__proto__`.
 */
export async function* messages(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void> {
  for await (const message of decodeMultiStream<undefined>(stream, OPTIONS)) {
    yield withText(message);
  }
}

/** Arrays and maps are filled in place: there may be ten thousand. */
function withText(value: unknown): unknown {
  if (value instanceof Uint8Array) return UTF8.decode(value);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const field = fields[key];
    if (typeof field === "object") fields[key] = withText(field);
  }
  return value;
}
