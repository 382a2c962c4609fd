import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { lacks, needs, temporaryFolder } from "#test";
import { realPath } from "../../src/lib/paths";
import { join } from "../../src/lib/platform";

const root = realpathSync(temporaryFolder());
mkdirSync(join(root, "to"));
if (!lacks("symlinks")) {
  symlinkSync("to/new", join(root, "link"));
  symlinkSync("loop", join(root, "loop"));
}

const below = (name: string, parts: number) => join(root, name) + "/a".repeat(parts);

needs("symlinks")("follows links before 2,000 missing folders, and none of a loop", () => {
  expect(realPath(below("link", 2_000))).toBe(below("to/new", 2_000));
  expect(realPath(below("loop", 2_000))).toBe(below("loop", 2_000));
});

test.each([2_049, 500_000])(
  "does not look for a path of %d parts, which no file can have",
  (parts) => {
    expect(realPath(below("link", parts))).toBe(below("link", parts));
  },
);
