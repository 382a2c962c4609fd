import { readdirSync, utimesSync } from "node:fs";
import { first, nightly, setDefaultTimeout } from "#test";
import { requestComparison } from "../../src/review/record/comparison-request";
import { all, BEFORE, type Case, CLAUDE, isMadeOrNot, runOnce, STRIDE, USER } from "./killed";
import { Actors } from "./state/actors";
import { World } from "./state/world";

setDefaultTimeout(120_000);

const CASES: Case[] = [
  {
    name: "undo of a part",
    files: { a: USER },
    claude: { a: CLAUDE },
    decide: (world) => ["undo", { files: [{ path: world.path("a"), range: [3, 3] }] }],
    done: { a: "user\n1\n2\n3\n4\nV\n" },
  },
  {
    name: "undo of a move",
    files: { old: USER },
    claude: { old: undefined, new: USER },
    decide: (world) => ["undo", all(world, "new")],
    done: { old: USER, new: undefined },
    between: { old: USER, new: USER },
  },
  {
    name: "keeping the rest",
    files: { a: USER, old: USER },
    claude: { a: CLAUDE, old: undefined, new: USER, b: BEFORE },
    decide: () => ["done", { texts: [] }],
    done: { a: CLAUDE, old: undefined, new: USER, b: BEFORE },
  },
  {
    name: "keep",
    files: { a: USER },
    claude: { a: CLAUDE },
    decide: (world) => ["keep", all(world, "a")],
    done: { a: CLAUDE },
  },
  {
    name: "undo of a new file",
    files: {},
    claude: { new: BEFORE },
    decide: (world) => ["undo", all(world, "new")],
    done: { new: undefined },
  },
  {
    name: "undo of a deletion",
    files: { a: USER },
    claude: { a: undefined },
    decide: (world) => ["undo", all(world, "a")],
    done: { a: USER },
  },
  {
    name: "taking an undo back",
    files: { a: USER },
    claude: { a: CLAUDE },
    prepare: (world) => world.undo([{ path: world.path("a") }]),
    decide: () => ["back", { files: [] }],
    done: { a: CLAUDE },
    again: true,
  },
];

test.each(first(1, CASES))("makes a decision or not, killed at its steps: $name", isMadeOrNot);

test("records a command's changes once, killed at steps of a comparison", async () => {
  const shown = (world: Actors) =>
    world
      .journal()
      .split("\n")
      .filter((line) => line.includes("trees"));
  let killed = true;
  // Not each step, for the time that it takes.
  for (let step = 1; killed; step += 3 * STRIDE) {
    using world = new Actors({ a: BEFORE, b: BEFORE });
    const change = () => {
      world.write("a", undefined);
      world.write("b", CLAUDE);
      world.write("c", USER);
    };
    await world.run("A", "uncompared", [change], []);
    requestComparison(world.folder);
    killed = await runOnce(world, step, "compare-once.js");
    world.compare();
    const changes = shown(world).map((line) => line.replace(/^\d+ /, ""));
    expect(changes).toHaveLength(1);
    for (const name of ["a", "b", "c"]) expect(changes[0]).toContain(`${name}: `);
    expect((await world.list()).files).toHaveLength(3);
  }
});

nightly.test("removes drafts of a killed process, and nothing else", async () => {
  using world = new World();
  const draft = ".claude-code-nvim.0123abcd.tmp";
  const others = [".claude-code-nvim.89abcdef.tmp", ".claude-code-nvim.notes.tmp", "a.tmp"];
  const claudes = ".claude-code-nvim.ffffffff.tmp";
  world.claude({ "in/a": BEFORE, [`in/${claudes}`]: "x" });
  await world.undo([{ path: world.path("in/a") }]);
  const old = new Date(Date.now() - 60 * 60_000);
  for (const name of [draft, claudes, ...others]) {
    world.write(`in/${name}`, "x");
    // The first of the others is being written now.
    if (name !== others[0]) utimesSync(world.path(`in/${name}`), old, old);
  }
  await world.another().answer("list", {});
  expect(readdirSync(world.path("in")).sort()).toEqual([claudes, ...others].toSorted());
});
