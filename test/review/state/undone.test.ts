import fc from "fast-check";
import { perTest } from "#test";
import { fileVersion } from "../../../src/lib/paths";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { play, stories, textOf } from "../story";
import { decided, type Step } from "./decisions";
import { base64, World } from "./world";

const SIX = "1 2 3 4 5 6";
const WITH = "1 2 3 C 4 5 6";
const WITHOUT = "1 2 4 5 6";
const TEXT = textOf(SIX);
const world = perTest(() => new World());
beforeEach(() => {
  world.write("a", TEXT);
});

const file = () => ({ path: world.path("a") });

describe("a line by Claude that the user has undone", () => {
  stories(
    `user a=${SIX}`,
    `
# is Claude's again after Neovim's undo; once it is kept, Claude's later deletion can be undone
  A a=${WITH}; undo! a; u a=${WITH}; is a changed 0>1@4; keep a; is nothing
  back undo: no decision to take back; disk a=${WITH}
  A a=1 2 3 other 4 5 6; is a changed 1>1@4; undo! a; disk a=${WITH}
# is the user's own if they write it again, even in another buffer
  A a=${WITH}; undo! a; user a=${WITH}; is nothing; undo! a: nothing; disk a=${WITH}
# is the user's own if they write it again after Claude's next change of the file
  A a=${WITH}; undo! a; A a=${SIX} more; user a=${WITH} more; is a changed 0>1@8
  undo! a; disk a=${WITH}
`,
  );

  test("is Claude's while the undo is only in a buffer, and the user's own once that is written", async () => {
    await play(world, `A a=${WITH}`);
    await world.undo([{ ...file(), text: base64(textOf(`0 ${WITH}`)) }]);
    await play(world, `is a changed 0>1@4; user a=0 ${SIX}`);
    await world.service.answer("written", file());
    await play(world, `user a=0 ${WITH}; is nothing`);
  });

  test("still belongs to the undo if the user writes again before the review sees it", async () => {
    const [first, second] = [TEXT.replace("2", "B"), TEXT.replace("2", "B").replace("5", "E")];
    world.claude({ a: second });
    const undoneIn = async (claude: string, row: number, rest: string) => {
      const { decision } = await world.undo([
        { ...file(), text: base64(claude), range: [row, row] },
      ]);
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
});

describe("a line that Claude deleted, and the user has brought back", () => {
  stories(
    `user a=${SIX}`,
    `
# counts as deleted by the user if they delete it before Claude changes the file again
  A a=${WITHOUT}; undo! a; restart; user a=${WITHOUT}; is nothing
  undo! a: nothing; disk a=${WITHOUT}
# counts as deleted by Claude after Neovim's undo, only in that file
  user b=${SIX}; A a=${WITHOUT}, b=${WITHOUT}; undo! a, b; u a=${WITHOUT}
  is a changed 1>0@2; back undo; is a changed 1>0@2, b changed 1>0@2; disk b=${WITHOUT}
`,
  );
});

test("does not show the user's edits in a change that is made again after they discarded it", async () => {
  const mixed = async () => (await world.list()).files.flatMap(({ hunks }) => hunks)[0]?.mixed;
  await play(world, `A a=1 2 III more; user a=${SIX}; A a=1 2 III more`);
  expect(await mixed()).toBe(false);
  world.write("a", "1\n2\nIII\n");
  expect(await mixed()).toBe(true);
});

/** Long runs have found these. */
const FOUND: [Step[]][] = [
  // A commit made before a decision is taken back is not a decision of its own.
  [
    [
      { do: "Claude", at: 0, deletes: 0, inserts: 1 },
      ...(["done", "commit"] as const).map((what) => ({ do: what })),
      { do: "back", nth: 0 },
      ...(["restart", "commit"] as const).map((what) => ({ do: what })),
    ],
  ],
  // An undo that leaves nothing of a buffer's text is on disk: rows cannot show an empty file.
  [
    [
      { do: "Claude", at: 6, deletes: 0, inserts: 1 },
      ...Array.from({ length: 3 }, () => ({ do: "user", at: 0, deletes: 2, inserts: 0 }) as const),
      { do: "undo in a buffer", hunk: 0 },
    ],
  ],
];

test(
  "gives exactly the user's text when all is undone",
  async () => {
    await fc.assert(decided(15), { numRuns: tries(25) + FOUND.length, examples: FOUND });
  },
  FUZZ_TIMEOUT_MS,
);
