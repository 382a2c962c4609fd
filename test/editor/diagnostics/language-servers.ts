import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { EXECUTABLE, eventually, isolatedEnv, type NeovimVersion, ROOT } from "#test";
import { Project } from "../../hooks/project";
import { TSCONFIG, TYPESCRIPT } from "../../support/typescript";

/* Projects with real language servers in a real Neovim, and the hooks of a Claude that works there. */

/** A cold start takes seconds, and on a machine that does much else many of them. */
export const COLD_MS = 90_000;

export const GO = { continue: true } as const;
const BIN = join(ROOT, "node_modules/.bin");
const JSON_SERVER = [join(BIN, "vscode-json-language-server"), "--stdio"];
/** Deadlines for a machine that is busy with other tests. */
const LONG_DEADLINES = `
  local port = require("port")
  port.sessions.DEADLINE_MS = 12000
  port.sessions.AFTER_EDIT_MS = 12000
  port.language_servers.TIMEOUT_MS = 60000`;

export async function openWith(
  version: NeovimVersion,
  servers: Record<string, string[]>,
): Promise<Project> {
  const project = await Project.open(version);
  await project.neovim.lua(LONG_DEADLINES);
  project.write("tsconfig.json", TSCONFIG);
  await project.serve(servers);
  return project;
}

/** Waits until every server has reported on all that was written. */
export async function settled(project: Project): Promise<void> {
  const pending = "return #require('port').pending_reports.paths()";
  await eventually(
    "all reports",
    async () => (await project.neovim.lua<number>(pending)) === 0,
    COLD_MS,
  );
}

/** Opens a broken file and fixes it, until its server has looked at each text. */
export async function warm(project: Project, name: string, ...texts: string[]): Promise<void> {
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

export type World = Awaited<ReturnType<typeof openWorld>>;

/** With servers of TypeScript and JSON that have reported. */
export async function openWorld(version: NeovimVersion) {
  const servers = { typescript: TYPESCRIPT, json: JSON_SERVER };
  const project = await openWith(version, servers);
  const client = new Client({ name: "oracle", version: "1.0.0" });
  const options = { command: EXECUTABLE, args: ["mcp"], cwd: project.folder };
  const env = isolatedEnv(project.neovim.home);
  await client.connect(new StdioClientTransport({ ...options, env }) as never);
  await warm(project, "warm.ts", "export const a: number = 's';\n", "export const a = 1;\n");
  await warm(project, "warm.json", '{ "a": }\n', "{}\n");
  return {
    project,
    /** The answer of the tool that the Stop hook names. */
    async sessionDiagnostics(): Promise<Record<string, { line: number; source: string }[]>> {
      const answer = await client.callTool({ name: "get_session_diagnostics", arguments: {} });
      const content = answer.content as { text: string }[] | undefined;
      return JSON.parse(content?.[0]?.text ?? "");
    },
    async close(): Promise<void> {
      await client.close();
      await project[Symbol.asyncDispose]();
    },
  };
}
