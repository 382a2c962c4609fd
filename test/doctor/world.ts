import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "../../src/doctor/finding";
import { eventually } from "../support/eventually";
import { isolatedEnv, type NeovimVersion, TestNeovim, temporaryFolder } from "../support/neovim";
import { isRunning } from "../support/process";
import { EXECUTABLE } from "../support/toolchain";

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

interface Result {
  code: number;
  stdout: string;
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

  static async start(version: NeovimVersion, setup = "{}"): Promise<World> {
    const project = temporaryFolder();
    writeFileSync(join(project, "main.lua"), "return {}\n");
    const neovim = await TestNeovim.start({ version, cwd: project, setup, args: ["main.lua"] });
    const world = new World(neovim, project);
    await world.reset();
    await world.ready();
    await eventually("the registry", () => {
      const folder = join(world.home, ".local/state/claude-code.nvim/neovims");
      return [...new Bun.Glob("*.json").scanSync({ cwd: folder })].length > 0;
    });
    return world;
  }

  /** Undoes what a case did to files, processes and options, so that the next one finds all well. */
  async reset(): Promise<void> {
    for (const name of [".claude.json", ".local/share/claude-code.nvim"]) {
      rmSync(join(this.home, name), { recursive: true, force: true });
    }
    this.installClaude("2.1.330");
    this.write(".claude/settings.json", { permissions: { defaultMode: "default" } });
    const { path } = await this.neovim.lock();
    chmodSync(path, 0o600);
  }

  /** Calls setup() again. */
  async setup(options = "{}"): Promise<void> {
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
    await this.neovim.command("Claude stop");
    await eventually("its end", () => !isRunning(pid));
  }

  get home(): string {
    return this.neovim.home;
  }

  get env(): Record<string, string> {
    const env = isolatedEnv(this.home);
    return { ...env, PATH: `${this.bin}:${env.PATH}` };
  }

  /** A file below the home folder; what is not text becomes JSON. */
  write(name: string, content: object | string): string {
    const path = join(this.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  /** A `claude` that prints this version. */
  installClaude(version: string): string {
    const script = `#!/bin/sh\n[ "$1" != --version ] || echo "${version} (Claude Code)"\n`;
    const path = this.write("bin/claude", script);
    chmodSync(path, 0o755);
    return path;
  }

  doctor(options: RunOptions & { args?: string[] } = {}): Promise<Result> {
    return this.run(["doctor", ...(options.args ?? [])], options);
  }

  /** Runs a sub-command as a user would. */
  async run(words: string[], options: RunOptions = {}): Promise<Result> {
    const child = Bun.spawn([EXECUTABLE, ...words], {
      cwd: options.cwd ?? this.project,
      env: { ...this.env, ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const stdout = await new Response(child.stdout).text();
    return { code: await child.exited, stdout };
  }

  async findings(options: RunOptions = {}): Promise<{ code: number; findings: Finding[] }> {
    const { code, stdout } = await this.doctor({ ...options, args: ["--json"] });
    return { code, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.neovim[Symbol.asyncDispose]();
    rmSync(this.project, { recursive: true, force: true });
  }
}
