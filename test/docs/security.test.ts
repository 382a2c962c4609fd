import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#test";
import { claimsOf, problemsOf, proofsIn, proofsOf } from "../../scripts/claims";

test("tests of every run prove each claim of SECURITY.md", () => {
  const listed = claimsOf(readFileSync(join(ROOT, "SECURITY.md"), "utf8"));
  expect(listed.length).toBeGreaterThan(15);
  expect(problemsOf(listed, proofsIn())).toEqual([]);
});

const call = `claims("A page cannot connect");`;
test.each([
  ["a claim without a test", "", ["no test of every run proves: A page cannot connect"]],
  ["a test of it", `test("t", () => { ${call} });`, []],
  ["a test of several cases", `test.each([1])("t %s", () => { ${call} });`, []],
  [
    "a nightly test",
    `nightly.describe("d", () => test("t", () => { ${call} }));`,
    ["no test of every run proves: A page", "does not run each time: t"],
  ],
  [
    "a test of something else",
    `test("t", () => { ${call} claims("No bugs"); });`,
    ["does not claim: No bugs"],
  ],
  ["a call outside of any test", call, ["outside of any test: A page cannot connect"]],
])("the claims check judges %s", (_, text, problems) => {
  const found = problemsOf(
    claimsOf("- **A page cannot connect.** Why."),
    proofsOf("a.test.ts", text),
  );
  expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
});
