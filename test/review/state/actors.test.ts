import fc from "fast-check";
import { first } from "#test";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { FOUND } from "./found";
import { PROPERTIES, play, played } from "./properties";

for (const property of Object.values(PROPERTIES)) {
  test(
    property.says,
    async () => {
      const numRuns = tries(property.runs);
      await fc.assert(played(property, 12), { numRuns, endOnFailure: true });
    },
    FUZZ_TIMEOUT_MS,
  );
}

describe("cases found before", () => {
  const { whose, session, keep, undo } = PROPERTIES;
  test.each(first(4, FOUND).map(([found], number) => [number, ...found] as const))(
    "holds in case %d",
    async (_number, start, acts) => {
      // The first two do not change the review.
      await play(start, acts, [whose.holds, session.holds, keep.holds]);
      await play(start, acts, [undo.holds]);
    },
    FUZZ_TIMEOUT_MS,
  );
});
