import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/toolchain";

test("every claim of SECURITY.md names tests that are there, and that run in every run", () => {
  const text = readFileSync(join(ROOT, "SECURITY.md"), "utf8");
  const [claimed = ""] = text.split("## Random attacks");
  const claims = claimed
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (claim|---)/.test(line));
  expect(claims.length).toBeGreaterThan(15);
  for (const claim of claims) {
    const shown = claim.slice(0, -" |".length).split(" | ").at(-1) ?? "";
    for (const one of shown.split(/; (?=`test\/)/)) {
      const [, file = "", name = ""] = one.match(/^`(test\/[^`]+\.test\.ts)`: (.+)$/) ?? [];
      expect(file, claim).not.toBe("");
      expect(file).not.toEndWith(".all.test.ts");
      const text = readFileSync(join(ROOT, file), "utf8");
      expect(text.includes(name), one).toBe(true);
      const before = text.slice(0, text.indexOf(name));
      expect(before, one).not.toMatch(/nightly\.\w+(\.each\([^;]*\))?\(\s*["`]$/);
    }
  }
});
