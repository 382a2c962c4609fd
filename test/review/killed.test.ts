import { readdirSync, utimesSync } from "node:fs";
import { first, nightly, rows, setDefaultTimeout } from "#test";
import { requestComparison } from "../../src/review/record/comparison-request";
import { BEFORE, type Case, CLAUDE, isMadeOrNot, runOnce, STRIDE, USER } from "./killed";
import { Actors } from "./state/actors";
import { World } from "./state/world";
import { filesIn } from "./story";

setDefaultTimeout(120_000);

const [OLD, NEW] = ["user 1 2 3 4 5", "user 1 II 3 4 V"];
// Title, the files, Claude's version of them, the decision, the files afterwards, and other permitted results.
const CASES = rows(`
  undo of a part | a=${OLD} | a=${NEW} | undo a 3-3 | a=user 1 2 3 4 V |
  undo of a move | old=${OLD} | -old, new=${OLD} | undo new | old=${OLD}, -new | old=${OLD}, new=${OLD}
  keeping the rest | a=${OLD}, old=${OLD} | a=${NEW}, -old, new=${OLD}, b=1 | done | a=${NEW}, -old, new=${OLD}, b=1 |
  keep | a=${OLD} | a=${NEW} | keep a | a=${NEW} |
  undo of a new file |  | new=1 | undo new | -new |
  undo of a deletion | a=${OLD} | -a | undo a | a=${OLD} |
  taking an undo back | a=${OLD} | a=${NEW} | back | a=${NEW} |`).map((cells): Case => {
  const [name = "", files = "", claude = "", decision = "", done = "", between = ""] = cells;
  const [method = "", file = "", range] = decision.split(" ");
  const isBack = method === "back";
  return {
    ...{ name, files: filesIn(files).texts, claude: filesIn(claude).texts },
    done: filesIn(done).texts,
    ...(isBack && { prepare: (world) => world.undo([{ path: world.path("a") }]), again: true }),
    ...(between && { between: filesIn(between).texts }),
    decide: (world) => {
      if (method === "done") return [method, { texts: [] }];
      const rows = range && { range: range.split("-").map(Number) };
      return [method, { files: isBack ? [] : [{ path: world.path(file), ...rows }] }];
    },
  };
});

test.each(first(1, CASES))("makes a decision wholly or not at all if killed: $name", isMadeOrNot);

test("records a command's changes once if a comparison is killed", async () => {
  const shown = (world: Actors) =>
    world
      .journal()
      .split("\n")
      .filter((line) => line.includes("trees"));
  let killed = true;
  // Testing each step would take too long.
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
