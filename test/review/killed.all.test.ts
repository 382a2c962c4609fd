import { setDefaultTimeout, test } from "bun:test";
import { all, BEFORE, type Case, CLAUDE, isMadeOrNot, USER } from "./killed";

setDefaultTimeout(120_000);

/* Decisions of which killed.test.ts has one that does more. */
const CASES: Case[] = [
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

test.each(CASES)("killed at steps of a decision, it is made or not: $name", isMadeOrNot);
