import { afterAll, beforeAll, expect } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Project } from "../hooks/project";
import { Claude, runHeadless } from "../support/claude";
import { eventually } from "../support/eventually";
import { Model } from "../support/model";
import { type ModelRequest, newsText, toolResults } from "../support/model-request";
import type { NeovimVersion } from "../support/toolchain";
import { edit, read, say } from "../support/turns";

const FOUND = "Found 1 error and 1 warning in edited files.";

/** A project in a real Neovim that marks problems, and the genuine CLI, which may not end its turn with them. */
export class Loop {
  project!: Project;
  model!: Model;
  #count = 0;

  private constructor() {}

  /** For the tests of the block around the call. */
  static inBlock(version: NeovimVersion): Loop {
    const loop = new Loop();
    beforeAll(async () => {
      loop.project = await Project.open(version);
      mkdirSync(join(loop.home, "tmp"), { recursive: true });
      loop.model = new Model();
    });
    afterAll(async () => {
      loop.model?.stop();
      await loop.project?.[Symbol.asyncDispose]();
    });
    return loop;
  }

  get home(): string {
    return this.project.neovim.home;
  }

  get folder(): string {
    return this.project.folder;
  }

  /** A new file, and a script in which Claude breaks it, is blocked, looks, fixes it, and ends. */
  script(tool: string): string {
    const file = this.project.write(`main-${++this.#count}.lua`, "local x = 1\n");
    const bad = "ERROR one\nWARN two";
    this.model.script([
      read(file),
      edit(file, "local x = 1", bad),
      say("All done."),
      [{ tool, input: {} }],
      edit(file, bad, "local x = 2"),
      say("Fixed."),
    ]);
    return file;
  }

  /** The requests of one scripted run, in order. */
  requests(from: number): ModelRequest[] {
    return this.model.requests.slice(from);
  }

  /** Blocked once with the reason, shown the details, allowed after the fix; never blocked twice. */
  expectLoop(from: number, file: string, tool: string): void {
    const news = this.requests(from).map(newsText);
    expect(news).toHaveLength(6);
    expect(news[3]).toContain(FOUND);
    expect(news[3]).toContain(`Use '${tool}' to see details.`);
    const name = file.slice(this.folder.length + 1);
    expect(news[3]).toContain(`${name}:1:1 error: ERROR one (marks)`);
    const details = toolResults(this.requests(from)[4] as ModelRequest)[0] ?? "";
    expect(JSON.parse(details)).toEqual({
      [name]: [
        { line: 1, column: 1, severity: "ERROR", message: "ERROR one", source: "marks" },
        { line: 2, column: 1, severity: "WARN", message: "WARN two", source: "marks" },
      ],
    });
    expect(news.filter((text) => text.includes("Stop hook"))).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toBe("local x = 2\n");
  }

  /** What the CLI that Neovim starts gets along. */
  launchArguments(): Promise<string[]> {
    return eventually("the server", async () => {
      const made = await this.project.neovim.lua<string[]>(
        "return require('port').launch.launch_arguments()",
      );
      return made.length > 0 && made;
    });
  }

  /** `claude -p` with a script. */
  async headless(args: string[]): Promise<void> {
    const { folder: project, home, model } = this;
    const all = ["--permission-mode", "acceptEdits", ...args];
    const result = await runHeadless({ project, home, model, args: all }, "go");
    expect(result).toMatchObject({ code: 0, stdout: "Fixed.\n" });
  }

  /** The CLI in a terminal, connected to Neovim. */
  async claude(): Promise<Claude> {
    const { folder: project, home, model } = this;
    const { port } = await this.project.neovim.lock();
    const args = ["--permission-mode", "acceptEdits", ...(await this.launchArguments())];
    const claude = await Claude.start({ project, home, model, port, args });
    await claude.waitForEditor();
    return claude;
  }
}
