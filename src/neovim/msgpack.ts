import { decodeMultiStream } from "@msgpack/msgpack";

/**
 * Neovim's strings are bytes: a file's name, a linter's message or a binary buffer need not be
 * UTF-8. What is none becomes U+FFFD. A byte order mark is text like any other.
 */
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

const OPTIONS = {
  rawStrings: true,
  keyDecoder: {
    canBeCached: () => true,
    decode(message: Uint8Array, start: number, length: number) {
      const key = UTF8.decode(message.subarray(start, start + length));
      return key === "__proto__" ? "(__proto__)" : key;
    },
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
