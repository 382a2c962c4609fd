import fc from "fast-check";
import { decompress } from "../../src/review/journal/blobs";

const compress = (bytes: Uint8Array) => Bun.zstdCompressSync(bytes, { level: 1 });
const text = compress(Buffer.from("text"));
const zeros = compress(Buffer.alloc(200_000));
/** The same with a wrong size in the header: with this level, the size has four bytes, starting with the sixth. */
const said = (bytes: number) => {
  const copy = Buffer.from(zeros);
  copy.writeUInt32LE(bytes, 5);
  return copy;
};

test.each<[string, Uint8Array]>([
  ["more than is allowed", zeros],
  ["more than it says", said(100)],
  ["less than it says", said(0xf0000000)],
  ["a second frame", Buffer.concat([text, zeros])],
  ["a second empty frame", Buffer.concat([text, compress(new Uint8Array(0))])],
  ["half a frame", zeros.subarray(0, zeros.length - 2)],
  ["a header alone", zeros.subarray(0, 5)],
  ["nothing", new Uint8Array(0)],
  ["plain text", Buffer.from("plain text, longer than a header")],
])("does not expand %s", (_, bytes) => {
  expect(zeros.readUInt32LE(5)).toBe(200_000);
  expect(() => decompress(Buffer.from(bytes), 100_000)).toThrow();
});

test("expands whatever was compressed", () => {
  const lengths = fc.constantFrom(0, 1, 255, 256, 257, 65_791, 65_792, 131_072, 300_000);
  fc.assert(
    fc.property(lengths, fc.uint8Array({ minLength: 1, maxLength: 300 }), (length, part) => {
      const bytes = Buffer.alloc(length, part);
      expect(decompress(compress(bytes), length)).toEqual(new Uint8Array(bytes));
    }),
    { numRuns: 100 },
  );
  const random = crypto.getRandomValues(new Uint8Array(60_000));
  expect(decompress(compress(random), 60_000)).toEqual(random);
});
