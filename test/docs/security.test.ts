import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#test";
import { claimsOf, problemsOf, proofsIn } from "../../scripts/claims";

test("tests of every run prove each claim of SECURITY.md", () => {
  const listed = claimsOf(readFileSync(join(ROOT, "SECURITY.md"), "utf8"));
  expect(listed.length).toBeGreaterThan(15);
  expect(problemsOf(listed, proofsIn())).toEqual([]);
});
