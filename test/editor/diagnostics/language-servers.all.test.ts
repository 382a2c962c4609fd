import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../hooks/project";
import { NEOVIMS, NEWEST, type NeovimVersion } from "../../support/neovim";
import { TYPESCRIPT } from "../../support/typescript";
import { GO, JSON_SERVER, openWith, openWorld, settled, World, warm } from "./language-servers";

/*
 * Further cases of real language servers: edit upon edit, a server that starts late, and a slow one. The
 * servers take their time, so the projects are worked on side by side.
 */
setDefaultTimeout(240_000);

/** Slower by `ms`; while there is a file `stopped`, no diagnostics come at all. */
const slow = (ms: number, stopped: string, command: string[]) => [
  process.execPath,
  join(import.meta.dir, "slow-server.ts"),
  String(ms),
  stopped,
  ...command,
];

const FINE = "export const a: number = 1;\n";
const BROKEN = "export const a: number = 'late';\n";
const stopped = (project: Project) => project.path("stopped");

/** No waiting after an edit: the end of the turn comes while the server still works. */
const deadline = ({ project }: World, ms: number) =>
  project.neovim.lua(
    `local port = require("port")
     port.config.get().diagnostics.after_edit, port.sessions.DEADLINE_MS = false, ...`,
    ms,
  );

async function openSlowWorld(): Promise<World> {
  const project = await openWith(NEWEST, (at) => ({
    typescript: slow(1_200, stopped(at), TYPESCRIPT),
  }));
  // The second time shows how long the server takes to find an error.
  await warm(project, "a.ts", BROKEN, FINE, BROKEN, FINE);
  return new World(project);
}

const tests: Record<string, (world: World) => Promise<void>> = {
  "a file without problems that stays so: its server says nothing, and is not waited for": async ({
    project,
  }) => {
    const session = { session_id: "stays" };
    for (const value of [1, 2, 3]) {
      await project.edit("stays.ts", `export const s: number = ${value};\n`, session);
      // A report that is still expected would be reported as unknown here, after the whole deadline.
      expect(await project.stop(session)).toEqual(GO);
    }
    await project.edit("stays.ts", "export const s: number = 'no';\n", session);
    expect(await project.stop(session)).toMatchObject({ decision: "block" });
  },

  "edit upon edit: only what was written last counts": async ({ project }) => {
    await project.edit("fast.ts", "export const f: number = 'wrong';\n", { session_id: "fast" });
    await project.edit("fast.ts", "export const f: number = 1;\n", { session_id: "fast" });
    expect(await project.stop({ session_id: "fast" })).toEqual(GO);
    await project.edit("fast.ts", "export const f: number = 'wrong';\n", { session_id: "fast" });
    expect(await project.stop({ session_id: "fast" })).toMatchObject({ decision: "block" });
  },
};

const slowTests: Record<string, (world: World) => Promise<void>> = {
  "no results from before the edit: it is waited for": async (world) => {
    const { project } = world;
    await deadline(world, 12_000);
    await project.edit("a.ts", BROKEN);
    const blocked = await project.stop({ prompt_id: "p1" });
    expect(blocked).toMatchObject({ decision: "block" });
    expect(blocked.reason).not.toContain("older than");
    await project.edit("a.ts", FINE);
    expect(await project.stop({ prompt_id: "p2" })).toEqual(GO);
  },

  "after the deadline the reason says that it may be older": async (world) => {
    const { project } = world;
    await project.edit("a.ts", BROKEN);
    await settled(project);
    expect(await project.stop({ prompt_id: "p3" })).toMatchObject({ decision: "block" });
    await deadline(world, 100);
    writeFileSync(stopped(project), "");
    await project.edit("a.ts", FINE);
    const { decision, reason } = await project.stop({ prompt_id: "p4" });
    expect(decision).toBe("block");
    expect(reason).toContain("Found 1 error and 0 warnings in edited files.");
    expect(reason).toContain("this may be older than your last edit");
    rmSync(stopped(project));
  },
};

/** Real servers that were never warm. */
const coldTests: Record<string, (world: World) => Promise<void>> = {
  "a server that takes its time to start: what it finds blocks": async (world) => {
    const { project } = world;
    await deadline(world, 500);
    await project.edit("cold.json", '{ "a": }\n');
    const stopped = project.stop({ prompt_id: "p1" });
    await Bun.sleep(3_000);
    writeFileSync(started(project), "");
    expect((await stopped).reason).toContain("cold.json:1:8 error: Value expected");
    await deadline(world, 12_000);
    await project.edit("cold.json", "{}\n");
    expect(await project.stop({ prompt_id: "p2" })).toEqual(GO);
  },
};

/** While there is no file `started`, the server is not even a process. */
const started = (project: Project) => project.path("started");
const WHEN_STARTED = 'until [ -e "$0" ]; do sleep 0.1; done; exec "$@"';

async function openColdWorld(version: NeovimVersion): Promise<World> {
  const project = await openWith(version, (at) => ({
    json: ["sh", "-c", WHEN_STARTED, started(at), ...JSON_SERVER],
  }));
  await project.neovim.lua("require('port').sessions.BUSY_DEADLINE_MS = 60000");
  return new World(project);
}

/** Tests of one world run in their order, while those of another run beside them. */
function oneByOne(): (run: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (run) => {
    const done = last.then(run);
    last = done.catch(() => {});
    return done;
  };
}

// What differs between versions of Neovim is in the first two; the slow server is about time alone.
const groups = [
  ...NEOVIMS.map((version) => ({
    name: `language servers with ${version.name}`,
    tests,
    open: () => openWorld(version),
  })),
  ...NEOVIMS.map((version) => ({
    name: `a cold language server with ${version.name}`,
    tests: coldTests,
    open: () => openColdWorld(version),
  })),
  { name: "a slow language server", tests: slowTests, open: openSlowWorld },
];
let worlds: World[] = [];
beforeAll(async () => {
  worlds = await Promise.all(groups.map(({ open }) => open()));
});
afterAll(() => Promise.all(worlds.map((world) => world.close())));

for (const [index, group] of groups.entries()) {
  const inTurn = oneByOne();
  for (const [name, run] of Object.entries(group.tests)) {
    test.concurrent(`${group.name}: ${name}`, () => inTurn(() => run(worlds[index] as World)));
  }
}
