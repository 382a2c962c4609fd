import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Project } from "../hooks/project";
import { isolatedEnv, type NeovimVersion, ROOT, temporaryFolder } from "../support/neovim";
import { TYPESCRIPT as COMMAND } from "../support/typescript";
import { call, connect } from "./client";

const BIN = join(ROOT, "node_modules/.bin");

export const TYPESCRIPT = { typescript: COMMAND };
export const PYTHON = { python: [join(BIN, "pyright-langserver"), "--stdio"] };

/** A project whose language servers Claude's tools use. */
export class EditedProject implements AsyncDisposable {
  private constructor(
    readonly project: Project,
    readonly client: Client,
    /** Of the server that answers as it is told. */
    readonly answers: string,
  ) {}

  /** `servers`: commands by file type; `text` is served by answering-server.ts. */
  static async open(
    version: NeovimVersion,
    files: Record<string, string>,
    servers: Record<string, string[]> = {},
    session = "",
  ): Promise<EditedProject> {
    const project = await Project.open(version);
    const answers = temporaryFolder();
    const answering = [process.execPath, join(import.meta.dir, "answering-server.ts"), answers];
    for (const [name, text] of Object.entries(files)) project.write(name, text);
    await project.serve({ ...servers, text: answering });
    await project.askAgainSoon();
    await project.neovim.lua(
      `_G.notes = {}
      vim.notify = function(text) table.insert(_G.notes, text) end`,
    );
    const env = isolatedEnv(project.neovim.home);
    const client = await connect(project.folder, {
      ...env,
      ...(session && { CLAUDE_CODE_SESSION_ID: session }),
    });
    const edited = new EditedProject(project, client, answers);
    edited.answer({});
    return edited;
  }

  answer(all: Record<string, unknown>): void {
    writeFileSync(join(this.answers, "answers.json"), JSON.stringify(all));
  }

  /** What a tool says; an error begins with "ERROR ". */
  async call(tool: string, args: object): Promise<string> {
    const { content, isError } = await call(this.client, tool, args);
    return (isError ? "ERROR " : "") + content.map(({ text }) => text).join("\n");
  }

  read(name: string): string {
    return readFileSync(this.project.path(name), "utf8");
  }

  /** All of these files. */
  texts(names: readonly string[]): Record<string, string> {
    return Object.fromEntries(names.map((name) => [name, this.read(name)]));
  }

  notes(): Promise<string[]> {
    return this.project.neovim.lua<string[]>("return _G.notes");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.project[Symbol.asyncDispose]();
    await Bun.$`rm -rf ${this.answers}`.quiet();
  }
}
