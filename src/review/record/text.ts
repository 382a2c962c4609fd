const UTF16_BOM = [0xff, 0xfe] as const;

function isUtf16(bytes: Uint8Array): boolean {
  return bytes[0] === UTF16_BOM[0] && bytes[1] === UTF16_BOM[1];
}

/**
 * Whether the CLI shows these bytes as this text: with "\n" for each line end, and U+FFFD for what is
 * not UTF-8 (measured with 2.1.330: `originalFile` of files with CRLF, a byte order mark, UTF-16).
 */
export function showsAs(bytes: Uint8Array, text: string): boolean {
  return withNewlines(decode(bytes)) === withNewlines(text);
}

/** Bytes for a text of the CLI's, in the encoding and with the line ends of `model`. */
export function encodeLike(text: string, model: Uint8Array): Uint8Array {
  const lines = decode(model);
  const crlf = lines.split("\r\n").length - 1;
  const all = lines.split("\n").length - 1;
  const isCrlf = crlf * 2 > all && !text.includes("\r\n");
  const written = isCrlf ? text.replaceAll("\n", "\r\n") : text;
  return Buffer.from(written, isUtf16(model) ? "utf16le" : "utf8");
}

/** Whether bytes of the same text may have looked otherwise than `encodeLike` makes them. */
export function isDoubtful(text: string, model: Uint8Array): boolean {
  const saysNothing = text.includes("\n") && !model.includes(0x0a);
  return saysNothing || text.includes("\uFFFD") || model.includes(0x0d) || isUtf16(model);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder(isUtf16(bytes) ? "utf-16le" : "utf-8", { ignoreBOM: true }).decode(bytes);
}

function withNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
