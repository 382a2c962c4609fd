import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./facts";

const [SECOND, DAY] = [1000, 24 * 60 * 60_000];
const MB = 1024 * 1024;

/** The constants of the numbers in the pages, and the units in which they are shown. */
const NUMBERS: Record<string, [file: string, constant: string, unit: number]> = {
  "decided days": ["src/review/journal/prune.ts", "DECIDED_MS", DAY],
  "forgotten days": ["src/review/journal/prune.ts", "MAX_DAYS", 1],
  "project MB": ["src/review/journal/prune.ts", "MAX_BYTES", MB],
  "text MB": ["src/review/journal/blobs.ts", "MAX_TEXT_BYTES", MB],
  "binary MB": ["src/review/journal/blobs.ts", "MAX_BINARY_BYTES", MB],
  "formatter seconds": ["src/review/state/spans.ts", "FORMAT_MS", SECOND],
  "diff MB": ["lua/claude-code/editor/diff/text.lua", "MAX_BYTES", MB],
  "diff lines": ["lua/claude-code/editor/diff/text.lua", "MAX_LINES", 1],
  "side-by-side columns": ["lua/claude-code/editor/changes/sides.lua", "MIN_WIDTH", 1],
};

/** The numbers as text, by name. */
export function numbers(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(NUMBERS).map(([name, [file, constant, unit]]) => {
      const value = numberOf(readFileSync(join(ROOT, file), "utf8"), constant);
      if (Number.isNaN(value)) throw new Error(`${file} has no number ${constant} (${name})`);
      return [name, (value / unit).toLocaleString("en-US")];
    }),
  );
}

/** The value of a constant that is a product of numbers and other constants of the same source. */
function numberOf(source: string, constant: string): number {
  const [, product] =
    source.match(new RegExp(`^(?:export )?(?:const|local) ${constant} = (.+?);?$`, "m")) ?? [];
  if (!product) return Number.NaN;
  return product
    .split(" * ")
    .map((factor) =>
      /^[A-Z]/.test(factor) ? numberOf(source, factor) : Number(factor.replaceAll("_", "")),
    )
    .reduce((a, b) => a * b);
}
