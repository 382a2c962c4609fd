import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { eventually, temporaryFolder } from "#test";
import { PathWatch } from "../../src/lib/path-watch";
import { join } from "../../src/lib/platform";
import { platformSkip } from "../support/platform-skip";

/* The review watches folders by the system's events, which end with their folder. */
let root: string;
let changes: number;
let watch: PathWatch;
let paths: string[];

beforeEach(() => {
  root = temporaryFolder();
  changes = 0;
  paths = [join(root, "src/a"), join(root, "src/b")];
  // The review does the same, but later.
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

test.each([
  ["removed", () => rmSync(join(root, "src"), { recursive: true })],
  ["moved", () => renameSync(join(root, "src"), join(root, "elsewhere"))],
])("watches a folder again that is %s and made again", async (_name, away) => {
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

test("reports what is written as soon as a change is reported", async () => {
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

/** Prints each change until the last one, in a user namespace with this many watches and instances. */
const LIMITED = `
  import { existsSync, renameSync, writeFileSync } from "node:fs";
  import { PathWatch, watchProblem } from "${join(import.meta.dir, "../../src/lib/path-watch.ts")}";
  const [root, watches, instances] = process.argv.slice(1);
  const limit = (name, count) => writeFileSync("/proc/sys/user/max_inotify_" + name, count);
  limit("watches", watches);
  limit("instances", instances);
  const write = (name) => writeFileSync(root + "/" + name, "new");
  const steps = [
    () => write("a"),
    () => write("src/any"),
    () => { write("draft"); renameSync(root + "/draft", root + "/a"); },
    () => { limit("watches", "99"); limit("instances", "99"); write("a"); },
    () => write("a"),
  ];
  const problems = [];
  setInterval(() => {}, 1000);
  const watch = new PathWatch(() => {
    problems.push(watchProblem() ?? "");
    next();
  }, 20);
  const next = () => {
    const step = steps.shift();
    setTimeout(step ?? (() => { console.log(JSON.stringify(problems)); watch.end(); process.exit(); }), 50);
  };
  watch.follow([root + "/a", root + "/src/"]);
  next();`;

test.each([
  ["watch", "0", "1000", "ENOSPC"],
  ["instance of inotify", "1000", "0", "EMFILE"],
] as const)(
  "polls while the system has no %s left, says so, and watches when it has",
  (_of, watches, instances, code) => {
    const namespace = ["unshare", "--user", "--map-root-user"];
    if (!Bun.which("unshare") || Bun.spawnSync([...namespace, "true"]).exitCode !== 0)
      return platformSkip("no user namespace, so no limit of inotify");
    make();
    const run = [process.execPath, "-e", LIMITED, root, watches, instances];
    const { stdout, stderr } = Bun.spawnSync([...namespace, ...run]);
    expect(stderr.toString()).toBe("");
    const problems: string[] = JSON.parse(stdout.toString());
    expect(problems.slice(0, 3)).toEqual(Array(3).fill(expect.stringContaining(`(${code};`)));
    expect(problems.at(-1)).toBe("");
  },
);
