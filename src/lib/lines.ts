const LINE_END = 10;

/**
 * The lines of a stream, without their line ends. The last line need not have one. A stream that breaks counts as
 * ended. A line of more than `maxBytes` ends the stream, or is cut if `longer` is "cut".
 */
export async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
  longer: "end" | "cut" = "end",
): AsyncGenerator<string, void> {
  let parts: Uint8Array[] = [];
  let held = 0;
  try {
    for await (const chunk of stream) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
        const line = Buffer.concat([...parts, chunk.subarray(start, end)]);
        parts = [];
        held = 0;
        start = end + 1;
        yield line.toString();
      }
      parts.push(chunk.subarray(start));
      held += chunk.length - start;
      if (held <= maxBytes) continue;
      if (longer === "end") return;
      parts = [Buffer.concat(parts).subarray(0, maxBytes)];
      held = maxBytes;
    }
  } catch {
    // The stream broke.
  }
  if (held > 0) yield Buffer.concat(parts).toString();
}
