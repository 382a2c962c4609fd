import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PathWatch } from "../../src/lib/path-watch";
import { eventually } from "../support/eventually";
import { temporaryFolder } from "../support/neovim";

/* What the review watches by the system's events, which end with the folder that they are about. */
let root: string;
let changes: number;
let watch: PathWatch;
let paths: string[];

beforeEach(() => {
  root = temporaryFolder();
  changes = 0;
  paths = [join(root, "src/a"), join(root, "src/b")];
  // As the review does it, but at once.
  watch = new PathWatch(() => {
    changes += 1;
    while (watch.follow(paths)) changes += 1;
  });
});
afterEach(() => {
  watch.end();
  rmSync(root, { recursive: true });
});

/** Writes until an event comes: the first write may be faster than the system's watch. */
async function reports(name: string): Promise<void> {
  const before = changes;
  let text = 0;
  await eventually(`an event of ${name}`, () => {
    if (text % 10 === 0) writeFileSync(join(root, name), `${text}`);
    text += 1;
    return changes > before;
  });
}

const make = () => mkdirSync(join(root, "src"));

test("what is new to it may have changed before", () => {
  make();
  expect([watch.follow(paths), watch.follow(paths)]).toEqual([true, false]);
  paths.push(join(root, "src/c"));
  expect([watch.follow(paths), watch.follow(paths)]).toEqual([true, false]);
  paths.pop();
  expect(watch.follow(paths)).toBe(false);
});

test.each([
  ["removed", () => rmSync(join(root, "src"), { recursive: true })],
  ["moved", () => renameSync(join(root, "src"), join(root, "elsewhere"))],
])("a folder that is %s and made again is watched again", async (_name, away) => {
  make();
  watch.follow(paths);
  await reports("src/a");
  away();
  await eventually("its end", () => changes > 0);
  const before = changes;
  make();
  await eventually("the new folder", () => changes > before);
  await reports("src/b");
});

test("what is written as soon as a change is reported is reported, too", async () => {
  make();
  const file = join(root, "src/a");
  let seen = "";
  watch = new PathWatch(() => {
    seen = readFileSync(file, "utf8");
    if (seen.endsWith("first")) writeFileSync(file, seen.replace("first", "last"));
  });
  watch.follow([file]);
  for (let round = 0; round < 10; round++) {
    writeFileSync(file, `${round} first`);
    await eventually("the last text", () => seen === `${round} last`);
  }
});

test("other files are not reported", async () => {
  make();
  watch.follow(paths);
  await reports("src/a");
  await Bun.sleep(100);
  const before = changes;
  writeFileSync(join(root, "src/other"), "");
  await Bun.sleep(200);
  expect(changes).toBe(before);
});
