import fc from "fast-check";
import { linesOf } from "../../src/lib/lines";

async function* stream(chunks: readonly Uint8Array[]) {
  yield* chunks;
}

const read = (chunks: readonly Uint8Array[], most?: number) =>
  Array.fromAsync(linesOf(stream(chunks), most));

test("reads the same lines wherever the chunks of a stream end", async () => {
  const part = fc.constantFrom("", "a", "é", "日本", "\n", "\r\n", "{}");
  const text = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (whole, size) => {
      const bytes = Buffer.from(whole);
      const count = Math.ceil(bytes.length / size);
      const chunks = Array.from({ length: count }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const lines = whole.split("\n");
      if (lines.at(-1) === "") lines.pop();
      expect(await read(chunks)).toEqual(lines);
    }),
  );
});

test("ends at a line that is too long, and keeps those before it", async () => {
  const chunks = ["one\ntwo", "two", "two", "\nthree\n"].map((text) => Buffer.from(text));
  expect(await read(chunks, 8)).toEqual(["one"]);
  expect(await read(chunks, 9)).toEqual(["one", "twotwotwo", "three"]);
});
