import { commitAll, World } from "#review";
import { setDefaultTimeout, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { runOnce, STRIDE } from "../review/killed";

setDefaultTimeout(120_000);

const OLD = "1\n2\n3\n4\n5\n";
const CLAUDES = "1\n2\n3\n4\nV\n";
const NAMES = ["a", "b", "c"];
/** The user has changed one of them here. */
const BEFORE = ["I\n2\n3\n4\n5\n", OLD, OLD];
const AFTER = ["I\n2\n3\n4\nV\n", CLAUDES, CLAUDES];

/** A repository, and a worktree in which Claude has changed three files. */
function made() {
  const home = temporaryFolder();
  const here = new World(join(home, "project"), home);
  const files = Object.fromEntries(NAMES.map((name) => [name, OLD]));
  for (const name of NAMES) here.write(name, OLD);
  commitAll(here.root, files);
  const path = join(home, "docs");
  Bun.spawnSync(["git", "-C", here.root, "worktree", "add", "-q", "-b", "docs", path]);
  const there = new World(path, home);
  there.claude(Object.fromEntries(NAMES.map((name) => [name, CLAUDES])));
  here.write("a", BEFORE[0]);
  return { here, there };
}

test("comes home by a second command if the first is killed at any step", async () => {
  let killed = true;
  let step = 1;
  for (; killed; step += 3 * STRIDE) {
    const { here, there } = made();
    const home = (killAt: number) => runOnce(here, killAt, "home-once.js", there.root);
    killed = await home(step);
    for (const [i, name] of NAMES.entries()) {
      expect([BEFORE[i], AFTER[i]]).toContain(here.read(name) as string);
    }
    if (killed) expect(await home(0)).toBe(false);
    expect(NAMES.map((name) => here.read(name))).toEqual(AFTER);
    expect(await here.summary()).toEqual(NAMES.map((name) => `${name} changed 1>1@5`));
    expect(await there.summary()).toEqual([]);
    here[Symbol.dispose]();
  }
  expect(step).toBeGreaterThan(12);
});
