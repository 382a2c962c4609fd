import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "../../src/doctor/finding";
import { eventually } from "../support/eventually";
import { isolatedEnv, type NeovimVersion, TestNeovim, temporaryFolder } from "../support/neovim";
import { type Ended, isRunning, run } from "../support/process";
import { EXECUTABLE } from "../support/toolchain";

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

/** A project in a Neovim in which all is well: the doctor finds no problem. */
export class World implements AsyncDisposable {
  readonly bin: string;

  private constructor(
    readonly neovim: TestNeovim,
    readonly project: string,
  ) {
    this.bin = join(this.home, "bin");
  }

  static async start(version: NeovimVersion): Promise<World> {
    const project = temporaryFolder();
    writeFileSync(join(project, "main.lua"), "return {}\n");
    const neovim = await TestNeovim.start({ version, cwd: project, args: ["main.lua"] });
    const world = new World(neovim, project);
    world.installClaude("2.1.330");
    world.write(".claude/settings.json", { permissions: { defaultMode: "default" } });
    await world.ready();
    await eventually("the registry", () => {
      const folder = join(world.home, ".local/state/claude-code.nvim/neovims");
      return [...new Bun.Glob("*.json").scanSync({ cwd: folder })].length > 0;
    });
    return world;
  }

  /** Calls setup() again. */
  async setup(options: string): Promise<void> {
    await this.neovim.lua(`require("claude-code").setup(${options})`);
  }

  /** The plugin has shaken hands with the executable: later than there is a lock file. */
  async ready(): Promise<void> {
    await eventually("the server", () =>
      this.neovim.lua<boolean>(`return require("claude-code").status().state == "ready"`),
    );
  }

  /** Stops the server, and waits for its end: until then its lock file may count. */
  async stop(): Promise<void> {
    const pid = await this.neovim.lua<number>('return require("claude-code").status().process_id');
    await this.neovim.command("ClaudeCodeStop");
    await eventually("its end", () => !isRunning(pid));
  }

  /** As a terminal of Neovim has it. */
  async inside(): Promise<{ env: Record<string, string> }> {
    return { env: { NVIM: await this.neovim.lua<string>("return vim.v.servername") } };
  }

  get home(): string {
    return this.neovim.home;
  }

  /** A file below the home folder; what is not text becomes JSON. */
  write(name: string, content: object | string): string {
    const path = join(this.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  /** A `claude` that prints this version. */
  installClaude(version: string): void {
    const script = `#!/bin/sh\n[ "$1" != --version ] || echo "${version} (Claude Code)"\n`;
    chmodSync(this.write("bin/claude", script), 0o755);
  }

  /** Runs a sub-command as a user would. */
  run(words: string[], { cwd = this.project, env = {} }: RunOptions = {}): Promise<Ended> {
    const own = isolatedEnv(this.home);
    const PATH = `${this.bin}:${own.PATH}`;
    return run([EXECUTABLE, ...words], { cwd, env: { ...own, PATH, ...env } });
  }

  async findings(options?: RunOptions): Promise<Finding[]> {
    const { stdout } = await this.run(["doctor", "--json"], options);
    return (JSON.parse(stdout) as { findings: Finding[] }).findings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.neovim[Symbol.asyncDispose]();
    rmSync(this.project, { recursive: true, force: true });
  }
}
