import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { JournalReader } from "../../src/review/journal/read";
import { requestComparison } from "../../src/review/record/comparison-request";
import { temporaryFolder } from "../support/neovim";
import { Actors } from "./state/actors";
import { World } from "./state/world";

setDefaultTimeout(120_000);

/** The programs that are killed, each in one file: they start so often. */
const programs = temporaryFolder();
beforeAll(async () => {
  const names = ["decide-once.ts", "compare-once.ts"];
  const entrypoints = names.map((name) => join(import.meta.dir, name));
  await Bun.build({ entrypoints, outdir: programs, target: "bun" });
});
afterAll(() => rmSync(programs, { recursive: true }));

const BEFORE = "1\n2\n3\n4\n5\n";
const USER = "user\n1\n2\n3\n4\n5\n";
const CLAUDE = "user\n1\nII\n3\n4\nV\n";

/** Files by name; undefined: not there. */
type Files = Record<string, string | undefined>;

interface Case {
  name: string;
  /** What stands there before Claude changes it to `claude`. */
  files: Files;
  claude: Files;
  /** Claude's turn has not ended when `prepare` decides. */
  waits?: boolean;
  /** Decided before the one that is killed. */
  prepare?: (world: World) => Promise<unknown>;
  decide: (world: World) => [method: string, params: object];
  done: Files;
  /** Also allowed, of a decision about two files: Claude's text is there twice, and none is lost. */
  between?: Files;
}

const all = (world: World, ...names: string[]) => ({
  files: names.map((name) => ({ path: world.path(name) })),
});

const CASES: Case[] = [
  {
    name: "keep",
    files: { a: USER },
    claude: { a: CLAUDE },
    decide: (world) => ["keep", all(world, "a")],
    done: { a: CLAUDE },
  },
  {
    name: "undo of a part",
    files: { a: USER },
    claude: { a: CLAUDE },
    decide: (world) => ["undo", { files: [{ path: world.path("a"), range: [3, 3] }] }],
    done: { a: "user\n1\n2\n3\n4\nV\n" },
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
    name: "undo of a move",
    files: { old: USER },
    claude: { old: undefined, new: USER },
    decide: (world) => ["undo", all(world, "new")],
    done: { old: USER, new: undefined },
    between: { old: USER, new: USER },
  },
  {
    name: "taking an undo back",
    files: { a: USER },
    claude: { a: CLAUDE },
    prepare: (world) => world.undo([{ path: world.path("a") }]),
    decide: () => ["back", { files: [] }],
    done: { a: CLAUDE },
  },
  {
    name: "an undo that waited for the end of the turn",
    files: { a: USER },
    claude: { a: CLAUDE },
    waits: true,
    prepare: async (world) => {
      await world.undo([{ path: world.path("a") }]);
      world.stop();
    },
    // Killed between journal and disk, it waits no more: the hunks are listed, to be undone again.
    decide: (world) => ["undo", { ...all(world, "a"), ...dueIn(world) }],
    done: { a: USER },
  },
  {
    name: "keeping the rest",
    files: { a: USER, old: USER },
    claude: { a: CLAUDE, old: undefined, new: USER, b: BEFORE },
    decide: () => ["done", { texts: [] }],
    done: { a: CLAUDE, old: undefined, new: USER, b: BEFORE },
  },
];

/** The undo that waits. */
function dueIn(world: World): { queued?: string } {
  const { records } = new JournalReader(world.folder).read();
  const queue = records.find(({ type }) => type === "queue");
  const isDone = records.some((one) => one.type === "undo" && one.queued === queue?.id);
  return queue && !isDone ? { queued: queue.id } : {};
}

const textsOf = (world: World, files: Files): Files =>
  Object.fromEntries(Object.keys(files).map((name) => [name, world.read(name)]));

/** The texts, and what waits for a review. */
async function stateOf(world: World, files: Files) {
  const { files: waiting, incomplete } = await world.list();
  expect(incomplete).toEqual([]);
  const entries = waiting.map(({ path, kind, hunks }) => {
    return [path.slice(world.root.length + 1), kind, ...hunks.map(({ new: rows }) => rows)];
  });
  return { texts: textsOf(world, files), entries };
}

async function made({ files, claude, prepare, waits }: Case): Promise<World> {
  const world = new World();
  for (const [name, text] of Object.entries(files)) world.write(name, text);
  world.prompt();
  world.claude(claude);
  if (!waits) world.stop();
  await prepare?.(world);
  return world;
}

/** Runs the decision in a process of its own. Returns whether it was killed. */
function decideOnce(world: World, one: Case, killAt: number): Promise<boolean> {
  const [method, params] = one.decide(world);
  return runOnce(world, killAt, "decide-once.js", method, JSON.stringify(params));
}

async function runOnce(
  world: World,
  killAt: number,
  program: string,
  ...args: string[]
): Promise<boolean> {
  const killer = join(import.meta.dir, "kill-at-step.ts");
  const child = Bun.spawn(
    [process.execPath, "--preload", killer, join(programs, program), world.root, ...args],
    { env: { ...process.env, KILL_AT: String(killAt) }, stderr: "pipe" },
  );
  const problem = await new Response(child.stderr).text();
  await child.exited;
  if (child.signalCode === "SIGKILL") return true;
  expect({ code: child.exitCode, problem }).toEqual({ code: 0, problem: "" });
  return false;
}

test.each(CASES)("killed at any step of a decision, it is made or not: $name", async (one) => {
  const files = { ...one.files, ...one.claude };
  let end: Awaited<ReturnType<typeof stateOf>>;
  {
    using world = await made(one);
    await decideOnce(world, one, 0);
    end = await stateOf(world, files);
    expect(end.texts).toEqual(one.done);
  }
  let killed = true;
  for (let step = 1; killed; step++) {
    using world = await made(one);
    const start = await stateOf(world, files);
    killed = await decideOnce(world, one, step);
    const now = await stateOf(world, files);
    if (one.between && Bun.deepEquals(now.texts, one.between)) {
      expect(now.entries).not.toEqual([]);
    } else {
      expect([start, end]).toContainEqual(now);
    }
    // A draft may be left, and no lock that stops the next decision.
    const names = readdirSync(world.root).filter(
      (name) => !/^\.claude-code-nvim\..*\.tmp$/.test(name),
    );
    expect(Object.keys(files)).toEqual(expect.arrayContaining(names));
    if (!killed) expect(now).toEqual(end);
    if (!Bun.deepEquals(now, start)) continue;
    const [method, params] = one.decide(world);
    await world.service.answer(method, params);
    expect(await stateOf(world, files)).toEqual(end);
  }
});

test("killed at steps of a comparison, what a command changed is recorded, and once", async () => {
  const shown = (world: Actors) =>
    world
      .journal()
      .split("\n")
      .filter((line) => line.includes("trees"));
  let killed = true;
  // Each third step, for the time that it takes.
  for (let step = 1; killed; step += 3) {
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

test("drafts of a process that was killed go, and nothing else", async () => {
  using world = new World();
  const draft = ".claude-code-nvim.0123abcd.tmp";
  const others = [".claude-code-nvim.89abcdef.tmp", ".claude-code-nvim.notes.tmp", "a.tmp"];
  world.claude({ "in/a": BEFORE });
  await world.undo([{ path: world.path("in/a") }]);
  const old = new Date(Date.now() - 60 * 60_000);
  for (const name of [draft, ...others]) {
    world.write(`in/${name}`, "x");
    // The first of the others is being written now.
    if (name !== others[0]) utimesSync(world.path(`in/${name}`), old, old);
  }
  const base = join(world.folder, "base-Xy12zZ");
  mkdirSync(base);
  utimesSync(base, old, old);
  await world.another().answer("list", {});
  expect(readdirSync(world.path("in")).sort()).toEqual(others.toSorted());
  expect(existsSync(base)).toBe(false);
});
