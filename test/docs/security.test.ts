import { readFileSync } from "node:fs";
import { ROOT } from "#test";
import { claimsOf, problemsOf, proofsIn } from "../../scripts/claims";
import { join } from "../../src/lib/platform";

test("tests of every run prove each claim of SECURITY.md", () => {
  const listed = claimsOf(readFileSync(join(ROOT, "SECURITY.md"), "utf8"));
  expect(listed.length).toBeGreaterThan(15);
  expect(problemsOf(listed, proofsIn())).toEqual([]);
});
