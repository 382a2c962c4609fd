import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Project } from "../../hooks/project";
import { eventually } from "../../support/eventually";
import {
  EXECUTABLE,
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  ROOT,
} from "../../support/neovim";
import { TSCONFIG, TYPESCRIPT } from "../../support/typescript";

/*
 * Real language servers in a real Neovim: what they report on the text that Claude wrote, never before.
 * The servers take their time, so the projects are worked on side by side.
 */
setDefaultTimeout(240_000);
/** A cold start takes seconds, and on a machine that does much else many of them. */
const COLD_MS = 90_000;

const GO = { continue: true } as const;
const BIN = join(ROOT, "node_modules/.bin");
const JSON_SERVER = [join(BIN, "vscode-json-language-server"), "--stdio"];
/** Slower by `ms`; while there is a file `stopped`, no diagnostics come at all. */
const slow = (ms: number, stopped: string, command: string[]) => [
  process.execPath,
  join(import.meta.dir, "slow-server.ts"),
  String(ms),
  stopped,
  ...command,
];

/** Deadlines for a machine that is busy with other tests: longer than the options allow. */
const LONG_DEADLINES = `
  local port = require("port")
  port.config.get().diagnostics.deadline_ms = 12000
  port.sessions.AFTER_EDIT_MS = 12000
  port.language_servers.TIMEOUT_MS = 60000`;

async function openWith(
  version: NeovimVersion,
  servers: (project: Project) => Record<string, string[]>,
): Promise<Project> {
  const project = await Project.open(version);
  await project.neovim.lua(LONG_DEADLINES);
  project.write("tsconfig.json", TSCONFIG);
  await project.serve(servers(project));
  return project;
}

/** Waits until every server has reported on all that was written. */
async function settled(project: Project): Promise<void> {
  const pending = "return #require('port').pending_reports.paths()";
  await eventually(
    "all reports",
    async () => (await project.neovim.lua<number>(pending)) === 0,
    COLD_MS,
  );
}

/** Opens a broken file and fixes it, until its server has looked at each text. */
async function warm(project: Project, name: string, ...texts: string[]): Promise<void> {
  const count = "return #vim.diagnostic.get(vim.fn.bufadd(...))";
  for (const [index, text] of texts.entries()) {
    project.write(name, text);
    await project.neovim.command(index === 0 ? `edit ${project.path(name)}` : "checktime");
    const wanted = 1 - (index % 2);
    await eventually(
      `${wanted} diagnostics of ${name}`,
      async () => (await project.neovim.lua<number>(count, project.path(name))) === wanted,
      COLD_MS,
    );
  }
  await settled(project);
}

class World {
  constructor(
    readonly project: Project,
    readonly client?: Client,
  ) {}

  /** What the tool answers that the Stop hook names. */
  async sessionDiagnostics(): Promise<Record<string, { line: number; source: string }[]>> {
    const answer = await this.client?.callTool({ name: "get_session_diagnostics", arguments: {} });
    const content = answer?.content as { text: string }[] | undefined;
    return JSON.parse(content?.[0]?.text ?? "");
  }

  async close(): Promise<void> {
    await this.client?.close();
    await this.project[Symbol.asyncDispose]();
  }
}

async function openWorld(version: NeovimVersion): Promise<World> {
  const servers = { typescript: TYPESCRIPT, json: JSON_SERVER };
  const project = await openWith(version, () => servers);
  const client = new Client({ name: "oracle", version: "1.0.0" });
  const options = { command: EXECUTABLE, args: ["mcp"], cwd: project.folder };
  const env = isolatedEnv(project.neovim.home);
  await client.connect(new StdioClientTransport({ ...options, env }) as never);
  await warm(project, "warm.ts", "export const a: number = 's';\n", "export const a = 1;\n");
  await warm(project, "warm.json", '{ "a": }\n', "{}\n");
  return new World(project, client);
}

const FINE = "export const a: number = 1;\n";
const BROKEN = "export const a: number = 'late';\n";
const stopped = (project: Project) => project.path("stopped");

/** No waiting after an edit: the end of the turn comes while the server still works. */
const deadline = ({ project }: World, ms: number) =>
  project.neovim.lua(
    `local options = require("port").config.get().diagnostics
     options.after_edit, options.deadline_ms = false, ...`,
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
  "Claude breaks several files, is blocked, looks, fixes them, and may stop": async (world) => {
    const { project } = world;
    const prompt = { prompt_id: "p1" };
    project.write("open.ts", "export const n: number = 1;\n");
    await project.neovim.command(`edit ${project.path("open.ts")}`);
    await project.edit("open.ts", "export const n: number = 'one';\n");
    await project.edit("closed.ts", "import { n } from './open';\nexport const m: string = n;\n", {
      tool_response: { type: "create" },
    });
    await project.edit("data.json", '{\n  "a": 1,\n  "b"\n}\n', {
      tool_response: { type: "create" },
    });
    await settled(project);
    const blocked = await project.stop(prompt);
    expect(blocked.decision).toBe("block");
    expect(blocked.reason).toMatch(/^Found [34] errors and 0 warnings in edited files\./);
    expect(blocked.reason).toContain("open.ts:1:14 error: Type 'string' is not assignable");
    expect(blocked.reason).not.toContain("older than");

    const shown = await world.sessionDiagnostics();
    expect(Object.keys(shown).sort()).toEqual(["closed.ts", "data.json", "open.ts"]);
    expect(shown["open.ts"]).toMatchObject([
      { line: 1, column: 14, severity: "ERROR", source: "typescript" },
    ]);

    await project.edit("open.ts", "export const n: number = 2;\n");
    await project.edit("closed.ts", "import { n } from './open';\nexport const m: number = n;\n");
    await project.edit("data.json", '{\n  "a": 1,\n  "b": 2\n}\n');
    await settled(project);
    expect(await project.stop({ ...prompt, stop_hook_active: true })).toEqual(GO);
    expect(await world.sessionDiagnostics()).toEqual({});
  },

  "servers that check a file when it is saved receive Claude's writes as saves": async ({
    project,
  }) => {
    await project.neovim.command(`edit ${project.write("saved.json", "{}\n")}`);
    await project.neovim.lua(`
      _G.saved = {}
      vim.api.nvim_create_autocmd("LspNotify", { callback = function(args)
        if args.data.method == "textDocument/didSave" then
          table.insert(_G.saved, args.data.params.textDocument.uri)
        end
      end })`);
    await project.edit("saved.json", "[]\n", { session_id: "saved" });
    const uri = `file://${project.path("saved.json")}`;
    await eventually("didSave", async () => {
      expect(await project.neovim.lua("return _G.saved")).toEqual([uri]);
    });
  },

  "each edit reports what it broke, and only that": async ({ project }) => {
    const session = { session_id: "report" };
    project.write("each.ts", "export const old: number = 'old';\nexport const b: number = 1;\n");
    await project.neovim.command(`edit ${project.path("each.ts")}`);
    const count = "return #vim.diagnostic.get(0)";
    await eventually(
      "the old problem",
      async () => (await project.neovim.lua(count)) === 1,
      COLD_MS,
    );
    const { output } = await project.edit(
      "each.ts",
      "// moved\nexport const old: number = 'old';\nexport const b: number = 'b';\n",
      session,
    );
    expect(output).toEqual({
      hookSpecificOutput: {
        hookEventName: "PostToolUse",
        additionalContext:
          "New problems in each.ts after this edit, as Neovim's language servers report them:\n" +
          "each.ts:3:14 error: Type 'string' is not assignable to type 'number'. [2322] (typescript)",
      },
    });
    const fixed = await project.edit("each.ts", "export const b: number = 2;\n", session);
    expect(fixed.output).toBeUndefined();
    await settled(project);
    expect(await project.stop(session)).toEqual(GO);
  },

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
    expect(reason).toContain("Found 1 errors and 0 warnings in edited files.");
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
  await project.neovim.lua("require('port').config.get().diagnostics.busy_deadline_ms = 60000");
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
