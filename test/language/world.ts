import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { isolatedEnv, type NeovimVersion } from "#test";
import { join } from "../../src/lib/platform";
import { Project } from "../hooks/project";
import { call, connect } from "../nvim-lsp/client";
import { languageServer } from "../support/lsp-stdio";

interface WorldOptions {
  /** Commands or configurations by file type; by default the scripted server for `*.txt`. */
  servers?: (project: Project) => Record<string, string[] | object>;
  /** The id of Claude's session. */
  session?: string;
}

/** A project with language servers in a real Neovim, and Claude's MCP server there. */
export class LanguageProject implements AsyncDisposable {
  private constructor(
    readonly project: Project,
    readonly client: Client,
  ) {}

  /** `files` exist before Neovim starts. */
  static async open(
    version: NeovimVersion,
    files: Record<string, string>,
    { servers = (at) => ({ text: scripted(at) }), session }: WorldOptions = {},
  ): Promise<LanguageProject> {
    const project = await Project.open(version);
    for (const [name, text] of Object.entries(files)) project.write(name, text);
    mkdirSync(switchesOf(project), { recursive: true });
    Bun.spawnSync(["git", "init", "-q"], { cwd: project.folder });
    await project.serve(servers(project));
    const env = isolatedEnv(project.neovim.home);
    const client = await connect(project.folder, {
      ...env,
      ...(session && { CLAUDE_CODE_SESSION_ID: session }),
    });
    return new LanguageProject(project, client);
  }

  async ask(tool: string, args: object): Promise<{ text: string; isError: boolean }> {
    const { content, isError } = await call(this.client, tool, args);
    return { text: content[0]?.text ?? "", isError: isError === true };
  }

  /** The tool's answer; an error begins with "ERROR ". */
  async call(tool: string, args: object): Promise<string> {
    const { text, isError } = await this.ask(tool, args);
    return isError ? `ERROR ${text}` : text;
  }

  read(name: string): string {
    return readFileSync(this.project.path(name), "utf8");
  }

  /** Asks about all of these files. */
  texts(names: readonly string[]): Record<string, string> {
    return Object.fromEntries(names.map((name) => [name, this.read(name)]));
  }

  /** Sets the answers of the scripted server. */
  tell(answers: Record<string, unknown>): void {
    this.set("answers", JSON.stringify(answers));
  }

  /** Sets or clears a state of the scripted server. */
  set(name: string, text: string | false = ""): void {
    const path = join(switchesOf(this.project), name);
    if (text === false) rmSync(path, { force: true });
    else writeFileSync(path, text);
  }

  /** The scripted server's input. */
  get log(): string {
    const path = join(switchesOf(this.project), "log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    rmSync(switchesOf(this.project), { recursive: true, force: true });
    await this.project[Symbol.asyncDispose]();
  }
}

function switchesOf(project: Project): string {
  return join(project.neovim.home, "switches");
}

/** The scripted server for a project's `*.txt`. */
export function scripted(project: Project, encoding = "utf-16"): string[] {
  return [...languageServer(switchesOf(project)), project.folder, encoding];
}
