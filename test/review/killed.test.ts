import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { World } from "./state/world";

setDefaultTimeout(120_000);

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
    name: "keeping the rest",
    files: { a: USER, old: USER },
    claude: { a: CLAUDE, old: undefined, new: USER, b: BEFORE },
    decide: () => ["done", { texts: [] }],
    done: { a: CLAUDE, old: undefined, new: USER, b: BEFORE },
  },
];

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

async function made({ files, claude, prepare }: Case): Promise<World> {
  const world = new World();
  for (const [name, text] of Object.entries(files)) world.write(name, text);
  world.claude(claude);
  await prepare?.(world);
  return world;
}

/** Runs the decision in a process of its own. Returns whether it was killed. */
async function decideOnce(world: World, one: Case, killAt: number): Promise<boolean> {
  const [method, params] = one.decide(world);
  const here = import.meta.dir;
  const child = Bun.spawn(
    [
      ...[
        process.execPath,
        "--preload",
        join(here, "kill-at-step.ts"),
        join(here, "decide-once.ts"),
      ],
      ...[world.root, method, JSON.stringify(params)],
    ],
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
