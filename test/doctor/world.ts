import { expect } from "bun:test";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "../../src/doctor/finding";
import { linesOf } from "../../src/lib/lines";
import { eventually } from "../support/eventually";
import { isolatedEnv, type NeovimVersion, TestNeovim, temporaryFolder } from "../support/neovim";
import { isRunning } from "../support/process";
import { EXECUTABLE } from "../support/toolchain";

/** A language server inside Neovim, since only its presence counts here. */
const LANGUAGE_SERVER = `
  vim.lsp.start({
    name = "in-process",
    cmd = function(dispatchers)
      return {
        request = function(_, _, callback)
          callback(nil, { capabilities = {} })
          return true, 1
        end,
        notify = function() return true end,
        is_closing = function() return false end,
        terminate = function() dispatchers.on_exit(0, 0) end,
      }
    end,
  })`;

/** A project in a Neovim in which all is well: the doctor finds no problem. */
export class World implements AsyncDisposable {
  readonly bin: string;
  readonly #processes: Bun.Subprocess[] = [];

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
    for (const child of this.#processes) child.kill();
    await Promise.all(this.#processes.splice(0).map((child) => child.exited));
    for (const name of [".claude.json", ".local/share/claude-code.nvim"]) {
      rmSync(join(this.home, name), { recursive: true, force: true });
    }
    this.installClaude("2.1.330");
    this.write(".claude/settings.json", { permissions: { defaultMode: "default" } });
    const { path } = await this.neovim.lock();
    chmodSync(path, 0o600);
    await this.neovim.lua(`
      if #vim.lsp.get_clients() == 0 then
        ${LANGUAGE_SERVER}
      end`);
    await eventually("the language server", () =>
      this.neovim.lua<boolean>(`
        local client = vim.lsp.get_clients({ bufnr = 0 })[1]
        return client ~= nil and next(client.attached_buffers) ~= nil`),
    );
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

  /** A `claude` that prints this version; otherwise it says that it is up, and runs until it is ended. */
  installClaude(version: string): string {
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo "${version} (Claude Code)" && exit\necho up\nread -r _\n`;
    const path = this.write("bin/claude", script);
    chmodSync(path, 0o755);
    return path;
  }

  /** A CLI that runs in the project; resolves once it does. */
  async runClaude(args: string[] = [], env: Record<string, string> = {}): Promise<void> {
    const child = Bun.spawn([join(this.bin, "claude"), ...args], {
      cwd: this.project,
      env: { ...this.env, ...env },
      stdin: "pipe",
    });
    this.#processes.push(child);
    expect((await linesOf(child.stdout).next()).value).toBe("up");
  }

  /** What `claude-code-nvim doctor` prints, run as a user would. */
  async doctor(
    options: { cwd?: string; env?: Record<string, string>; args?: string[] } = {},
  ): Promise<{ code: number; stdout: string }> {
    const child = Bun.spawn([EXECUTABLE, "doctor", ...(options.args ?? [])], {
      cwd: options.cwd ?? this.project,
      env: { ...this.env, ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const stdout = await new Response(child.stdout).text();
    return { code: await child.exited, stdout };
  }

  async findings(
    options: { cwd?: string; env?: Record<string, string> } = {},
  ): Promise<{ code: number; findings: Finding[] }> {
    const { code, stdout } = await this.doctor({ ...options, args: ["--json"] });
    return { code, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes) child.kill();
    await Promise.all(this.#processes.map((child) => child.exited));
    await this.neovim[Symbol.asyncDispose]();
    rmSync(this.project, { recursive: true, force: true });
  }
}
