import {
  eventually,
  isolatedEnv,
  NEOVIMS,
  type NeovimVersion,
  nightly,
  perBlock,
  ROOT,
  setDefaultTimeout,
} from "#test";
import { join } from "../../../src/lib/platform";
import { Project } from "../../hooks/project";
import { connect, json } from "../../nvim-lsp/client";
import { TSCONFIG, TYPESCRIPT } from "../../support/typescript";

/* Real language servers in a real Neovim: they report on the text that Claude wrote, never on the previous one. */
setDefaultTimeout(240_000);

/** A cold start takes seconds, and many seconds on a busy machine. */
const COLD_MS = 90_000;

const GO = { continue: true } as const;
const BIN = join(ROOT, "node_modules/.bin");
const JSON_SERVER = [join(BIN, "vscode-json-language-server"), "--stdio"];
/** Deadlines for a machine that is busy with other tests. */
const LONG_DEADLINES = `
  local port = require("port")
  port.sessions.DEADLINE_MS = 12000
  port.sessions.AFTER_EDIT_MS = 12000
  port.language_servers.TIMEOUT_MS = 60000`;

/** Waits until every server has reported on everything that was written. */
async function settled(project: Project): Promise<void> {
  const pending = "return #require('port').pending_reports.paths()";
  await eventually(
    "all reports",
    async () => (await project.neovim.lua<number>(pending)) === 0,
    COLD_MS,
  );
}

/** Opens a broken file and fixes it, and waits for reports on both texts. */
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

/** Starts servers for TypeScript and JSON, and waits for their reports. */
async function openWorld(version: NeovimVersion) {
  const project = await Project.open(version);
  await project.neovim.lua(LONG_DEADLINES);
  project.write("tsconfig.json", TSCONFIG);
  await project.serve({ typescript: TYPESCRIPT, json: JSON_SERVER });
  const client = await connect(project.folder, isolatedEnv(project.neovim.home));
  await warm(project, "warm.ts", "export const a: number = 's';\n", "export const a = 1;\n");
  await warm(project, "warm.json", '{ "a": }\n', "{}\n");
  return {
    project,
    /** The answer of the tool that the Stop hook names. */
    sessionDiagnostics: async () =>
      (await json(client, "get_session_diagnostics")) as Record<string, { line: number }[]>,
    async [Symbol.asyncDispose](): Promise<void> {
      await client.close();
      await project[Symbol.asyncDispose]();
    },
  };
}

describe.each(NEOVIMS)("language servers with $name", (version) => {
  const world = perBlock(() => openWorld(version));

  nightly.test("blocks Claude until it has fixed the files that it broke", async () => {
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
  });

  test("reports Claude's writes as saves to servers that check saved files", async () => {
    const { project } = world;
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
  });

  test("reports after each edit only the problems that the edit caused", async () => {
    const { project } = world;
    const session = { session_id: "report" };
    project.write("each.ts", "export const old: number = 'old';\nexport const b: number = 1;\n");
    await project.neovim.command(`edit ${project.path("each.ts")}`);
    await project.neovim.until("the old problem", "return #vim.diagnostic.get(0) == 1");
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
  });
});
