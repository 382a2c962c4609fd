import fc from "fast-check";
import { outcomeOf } from "#test";
import { fileVersion } from "../../../src/lib/file-version";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { decided, type Step } from "./decisions";
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

/** The user takes an undo back by Neovim's own, and writes the buffer. */
async function u(decision: string | undefined, text: string): Promise<void> {
  await world.back({ decision, path: world.path("a") });
  world.write("a", text);
}

/** What the user has undone, and what then becomes of these lines. */
describe("a line of Claude's that the user has undone", () => {
  test("is Claude's again by `u`, and once it is kept a later deletion of Claude's can be undone", async () => {
    world.claude({ a: WITH });
    const { decision } = await undoAll();
    await u(decision, WITH);
    expect(await world.summary()).toEqual(["a changed 0>1@4"]);
    await world.keep([file()]);
    expect(await world.summary()).toEqual([]);
    expect(await outcomeOf(world.back({ decision }))).toThrow("no decision to take back");
    expect(world.read("a")).toBe(WITH);
    world.claude({ a: WITH.replace("C\n", "other\n") });
    expect(await world.summary()).toEqual(["a changed 1>1@4"]);
    await undoAll();
    expect(world.read("a")).toBe(WITH);
  });

  test("is the user's own if they write the same, in another buffer, too", async () => {
    world.claude({ a: WITH });
    await undoAll();
    world.write("a", WITH);
    expect(await world.summary()).toEqual([]);
    await undoAll();
    expect(world.read("a")).toBe(WITH);
  });

  test("is Claude's while the undo is in a buffer alone, and the user's own once that is written", async () => {
    world.claude({ a: WITH });
    const text = Buffer.from(`0\n${WITH}`).toString("base64");
    await world.undo([{ ...file(), text }]);
    expect(await world.summary()).toEqual(["a changed 0>1@4"]);
    world.write("a", `0\n${TEXT}`);
    await world.service.answer("written", file());
    world.write("a", `0\n${WITH}`);
    expect(await world.summary()).toEqual([]);
  });

  test("is still the undo's where the user writes again before it is seen: nobody has emptied the file", async () => {
    const [first, second] = [TEXT.replace("2", "B"), TEXT.replace("2", "B").replace("5", "E")];
    world.claude({ a: second });
    const undoneIn = async (claude: string, row: number, rest: string) => {
      const text = Buffer.from(claude).toString("base64");
      const { decision } = await world.undo([{ ...file(), text, range: [row, row] }]);
      world.write("a", rest);
      return { decision, version: fileVersion(world.path("a")) };
    };
    const one = await undoneIn(second, 5, first);
    await world.service.answer("written", { ...file(), version: one.version });
    const two = await undoneIn(first, 2, TEXT);
    world.write("a", "");
    const seen = world.service.answer("written", { ...file(), version: two.version });
    await Bun.sleep(5);
    world.write("a", `mine\n${TEXT}`);
    await seen;
    for (const { decision } of [two, one]) await world.back({ decision });
    expect(world.read("a")).toBe(`mine\n${second}`);
  });

  test("is the user's own if they write the same once Claude has changed the file again", async () => {
    world.claude({ a: WITH });
    await undoAll();
    world.claude({ a: `${TEXT}more\n` });
    world.write("a", `${WITH}more\n`);
    expect(await world.summary()).toEqual(["a changed 0>1@8"]);
    await undoAll();
    expect(world.read("a")).toBe(WITH);
  });
});

describe("a line that Claude deleted, and the user has brought back", () => {
  test("is deleted by the user, who deletes it before Claude changes the file again", async () => {
    world.claude({ a: WITHOUT });
    await undoAll();
    world.service = world.another();
    world.write("a", WITHOUT);
    expect(await world.summary()).toEqual([]);
    await undoAll();
    expect(world.read("a")).toBe(WITHOUT);
  });

  test("is deleted by Claude again by `u`, in that file alone", async () => {
    world.write("b", TEXT);
    world.claude({ a: WITHOUT, b: WITHOUT });
    const { decision } = await world.undo([file(), { path: world.path("b") }]);
    await u(decision, WITHOUT);
    expect(await world.summary()).toEqual(["a changed 1>0@2"]);
    await world.back({ decision });
    expect(await world.summary()).toEqual(["a changed 1>0@2", "b changed 1>0@2"]);
    expect(world.read("b")).toBe(WITHOUT);
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

/** What long runs have found. */
const FOUND: [Step[]][] = [
  // A commit that was made before a decision is taken back is no decision of its own.
  [
    [
      { do: "Claude", at: 0, deletes: 0, inserts: 1 },
      { do: "done" },
      { do: "commit" },
      { do: "back", nth: 0 },
      { do: "restart" },
      { do: "commit" },
    ],
  ],
  // An undo that leaves nothing of a buffer's text is on disk: rows cannot show an empty file.
  [
    [
      { do: "Claude", at: 6, deletes: 0, inserts: 1 },
      { do: "user", at: 0, deletes: 2, inserts: 0 },
      { do: "user", at: 0, deletes: 2, inserts: 0 },
      { do: "user", at: 0, deletes: 2, inserts: 0 },
      { do: "undo in a buffer", hunk: 0 },
    ],
  ],
];

test(
  "keep, undo, back, `u`, edits, commits and restarts: undoing all then gives exactly the user's text",
  async () => {
    await fc.assert(decided(15), { numRuns: tries(25) + FOUND.length, examples: FOUND });
  },
  FUZZ_TIMEOUT_MS,
);
