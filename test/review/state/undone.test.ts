import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { decided } from "./decisions";
import { World } from "./world";

const TEXT = "1\n2\n3\n4\n5\n6\n";
const WITHOUT = TEXT.replace("3\n", "");
const WITH = TEXT.replace("3\n", "3\nC\n");

let world: World;
beforeEach(() => {
  world = new World();
  world.write("a", TEXT);
});
afterEach(() => world[Symbol.dispose]());

const file = () => ({ path: world.path("a") });
const undoAll = () => world.undo([file()], { keep_both: true });

/** What the user has undone, and what then becomes of these lines. */
describe("a line of Claude's that the user has undone", () => {
  test("is Claude's again by `u`, and once it is kept a later deletion of Claude's can be undone", async () => {
    world.claude({ a: WITH });
    await undoAll();
    world.write("a", WITH);
    expect(await world.summary()).toEqual(["a changed 0>1@4"]);
    await world.keep([file()]);
    expect(await world.summary()).toEqual([]);
    world.claude({ a: WITH.replace("C\n", "other\n") });
    expect(await world.summary()).toEqual(["a changed 1>1@4"]);
    await undoAll();
    expect(world.read("a")).toBe(WITH);
  });

  test("stays, brought back by `u` and kept, when the undo is taken back", async () => {
    world.claude({ a: WITH });
    const { decision } = await undoAll();
    world.write("a", WITH);
    await world.keep([file()]);
    const back = await world.back({ decision });
    expect(back.files).toMatchObject([{ same: true }]);
    expect(world.read("a")).toBe(WITH);
    expect(await world.summary()).toEqual([]);
  });

  test("is the user's own if they write the same later", async () => {
    world.claude({ a: WITH });
    await undoAll();
    world.claude({ a: `${TEXT}more\n` });
    world.write("a", `${WITH}more\n`);
    expect(await world.summary()).toEqual(["a changed 0>1@8"]);
    await undoAll();
    expect(world.read("a")).toBe(WITH);
  });

  test("comes back with the undo taken back, beside the user's own of the same text", async () => {
    world.claude({ a: WITH });
    const { decision } = await undoAll();
    world.claude({ a: `${TEXT}more\n` });
    await world.back({ decision });
    expect(world.read("a")).toBe(`${WITH}more\n`);
    await undoAll();
    expect(world.read("a")).toBe(TEXT);
  });
});

describe("a line that Claude deleted, and the user has brought back", () => {
  test("is deleted by the user, who deletes it later", async () => {
    world.claude({ a: WITHOUT });
    const { decision } = await undoAll();
    world.claude({ a: `${TEXT}more\n` });
    world.write("a", `${WITHOUT}more\n`);
    expect(await world.summary()).toEqual(["a changed 0>1@6"]);
    const before = world.read("a");
    const back = await world.back({ decision });
    expect(back.files).toMatchObject([{ same: true }]);
    expect(world.read("a")).toBe(before);
    await undoAll();
    expect(world.read("a")).toBe(WITHOUT);
  });

  test("is deleted by Claude again by `u`", async () => {
    world.claude({ a: WITHOUT });
    await undoAll();
    world.write("a", WITHOUT);
    expect(await world.summary()).toEqual(["a changed 1>0@2"]);
  });
});

test("a change that is made again after the user threw it away has none of the user's edits", async () => {
  const mixed = async () => (await world.list()).files.flatMap(({ hunks }) => hunks)[0]?.mixed;
  const changed = TEXT.replace("3\n", "three\nand more\n");
  world.claude({ a: changed });
  world.write("a", TEXT);
  world.claude({ a: changed });
  expect(await mixed()).toBe(false);
  world.write("a", changed.replace("and more\n", ""));
  expect(await mixed()).toBe(true);
});

test(
  "keep, undo, back, `u`, edits and restarts: undoing all then gives exactly the user's text",
  async () => {
    await fc.assert(decided(15), { numRuns: tries(25) });
  },
  FUZZ_TIMEOUT_MS,
);
