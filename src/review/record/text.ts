const UTF16_BOM = [0xff, 0xfe] as const;

function isUtf16(bytes: Uint8Array): boolean {
  return bytes[0] === UTF16_BOM[0] && bytes[1] === UTF16_BOM[1];
}

/**
 * Whether the CLI shows these bytes as this text. It shows each line end as "\n", and invalid UTF-8 as U+FFFD (measured
 * with 2.1.330: `originalFile` of files with CRLF, a byte order mark, UTF-16).
 */
export function showsAs(bytes: Uint8Array, text: string): boolean {
  return withNewlines(decode(bytes)) === withNewlines(text);
}

/** Whether the CLI may have shown bytes other than the text's UTF-8 as this text. `now` is what it wrote since. */
export function isDoubtful(text: string, now: Uint8Array): boolean {
  const saysNothing = text.includes("\n") && !now.includes(0x0a);
  return saysNothing || text.includes("\uFFFD") || now.includes(0x0d) || isUtf16(now);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder(isUtf16(bytes) ? "utf-16le" : "utf-8", { ignoreBOM: true }).decode(bytes);
}

function withNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
