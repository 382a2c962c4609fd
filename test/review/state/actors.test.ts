import { test } from "bun:test";
import fc from "fast-check";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { FOUND } from "./found";
import { PROPERTIES, played } from "./properties";

for (const property of Object.values(PROPERTIES)) {
  test(
    property.says,
    async () => {
      const numRuns = tries(property.runs) + FOUND.length;
      await fc.assert(played(property, 12), { numRuns, endOnFailure: true, examples: FOUND });
    },
    FUZZ_TIMEOUT_MS,
  );
}
