import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { ALL, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { World } from "./state/world";

/* Decisions of the review in processes that get killed. */

let built: Promise<string> | undefined;

/** The folder of the programs that are killed. Each is bundled into one file, because they start so often. */
function programs(): Promise<string> {
  built ??= (async () => {
    const names = ["decide-once.ts", "compare-once.ts", "home-once.ts"];
    const entrypoints = names.map((name) => join(import.meta.dir, name));
    const outdir = temporaryFolder();
    await Bun.build({ entrypoints, outdir, target: "bun" });
    return outdir;
  })();
  return built;
}

export const STRIDE = ALL ? 1 : 2;

export const BEFORE = "1\n2\n3\n4\n5\n";
export const USER = "user\n1\n2\n3\n4\n5\n";
export const CLAUDE = "user\n1\nII\n3\n4\nV\n";

type Files = Record<string, string | undefined>;

export interface Case {
  name: string;
  /** The files before Claude changes them to `claude`. */
  files: Files;
  claude: Files;
  /** The decisions before the one that is killed. */
  prepare?: (world: World) => Promise<unknown>;
  decide: (world: World) => [method: string, params: object];
  done: Files;
  /** Also allowed for a decision about two files: Claude's text exists twice, and nothing is lost. */
  between?: Files;
  /** Also allowed: the text is the one after the decision, and nothing is listed until the decision is made again. */
  again?: boolean;
}

const textsOf = (world: World, files: Files): Files =>
  Object.fromEntries(Object.keys(files).map((name) => [name, world.read(name)]));

async function stateOf(world: World, files: Files) {
  const { files: waiting, incomplete, damage } = await world.list();
  expect([...incomplete, ...damage]).toEqual([]);
  const entries = waiting.map(({ path, kind, hunks }) => {
    return [path.slice(world.root.length + 1), kind, ...hunks.map(({ new: rows }) => rows)];
  });
  return { texts: textsOf(world, files), entries };
}

async function made({ files, claude, prepare }: Case): Promise<World> {
  const world = new World();
  for (const [name, text] of Object.entries(files)) world.write(name, text);
  world.prompt();
  world.claude(claude);
  world.stop();
  await prepare?.(world);
  return world;
}

/** Runs the decision in a process of its own. Returns whether it was killed. */
function decideOnce(world: World, one: Case, killAt: number): Promise<boolean> {
  const [method, params] = one.decide(world);
  return runOnce(world, killAt, "decide-once.js", method, JSON.stringify(params));
}

export async function runOnce(
  world: World,
  killAt: number,
  program: string,
  ...args: string[]
): Promise<boolean> {
  const killer = join(import.meta.dir, "kill-at-step.ts");
  const child = Bun.spawn(
    [process.execPath, "--preload", killer, join(await programs(), program), world.root, ...args],
    { env: { ...process.env, KILL_AT: String(killAt) }, stderr: "pipe" },
  );
  const problem = await new Response(child.stderr).text();
  await child.exited;
  if (child.signalCode === "SIGKILL") return true;
  expect({ code: child.exitCode, problem }).toEqual({ code: 0, problem: "" });
  return false;
}

export async function isMadeOrNot(one: Case): Promise<void> {
  const files = { ...one.files, ...one.claude };
  let end: Awaited<ReturnType<typeof stateOf>>;
  {
    using world = await made(one);
    await decideOnce(world, one, 0);
    end = await stateOf(world, files);
    expect(end.texts).toEqual(one.done);
  }
  let killed = true;
  for (let step = 1; killed; step += STRIDE) {
    using world = await made(one);
    const start = await stateOf(world, files);
    killed = await decideOnce(world, one, step);
    let now = await stateOf(world, files);
    if (one.again && Bun.deepEquals(now, { ...end, entries: start.entries })) {
      await decideOnce(world, one, 0);
      now = await stateOf(world, files);
      expect(now).toEqual(end);
    }
    if (one.between && Bun.deepEquals(now.texts, one.between)) {
      expect(now.entries).not.toEqual([]);
    } else {
      expect([start, end]).toContainEqual(now);
    }
    // A draft may be left, but no lock that blocks the next decision.
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
}
