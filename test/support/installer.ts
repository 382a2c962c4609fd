import { existsSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "../../src/lib/platform";
import { eventually } from "./eventually";
import { TestNeovim, temporaryFolder } from "./neovim";
import { NATIVE, type TestRelease } from "./release";
import { ReleaseServer } from "./release-server";
import type { NeovimVersion } from "./toolchain";

export interface Outcome {
  /** The executable that was installed. */
  path?: string;
  message?: string;
}

/** A release, the plugin at its tag, and the host that it is downloaded from. */
export class Publication implements AsyncDisposable {
  private constructor(
    readonly release: TestRelease,
    readonly plugin: string,
    readonly server: ReleaseServer,
  ) {}

  static async start(release: TestRelease): Promise<Publication> {
    const server = await ReleaseServer.start([release.archive, join(release.folder, "SHA256SUMS")]);
    return new Publication(release, await release.checkout(), server);
  }

  /** Lua source of options with which only a command installs, and nothing starts. */
  get options(): string {
    return `{ auto_start = false, binary = { mirror = "${this.server.url}" } }`;
  }

  /** Lua source of options under which the server starts automatically; `binary`: more of that table. */
  starting(binary = "", mirror = this.server.url): string {
    return `{ auto_start = true, binary = { mirror = "${mirror}", ${binary} } }`;
  }

  /** A Neovim with a UI, without which only a command downloads anything. MESSAGES collects its messages. */
  watched(version: NeovimVersion, setup: string, env: Record<string, string>): Promise<TestNeovim> {
    const notify = "MESSAGES = {} vim.notify = function(text) table.insert(MESSAGES, text) end";
    const user = { ui: { width: 120, height: 30 }, args: ["--cmd", `lua ${notify}`] };
    return TestNeovim.start({ version, runtimepath: this.plugin, setup, env, ...user });
  }

  /** A Neovim with the plugin. */
  neovim(version: NeovimVersion, env: Record<string, string> = {}): Promise<TestNeovim> {
    const { plugin: runtimepath, options: setup } = this;
    return TestNeovim.start({ version, runtimepath, setup, env });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

interface ServerStatus {
  state: string;
  binary?: { path: string; source: string };
  last_error?: string;
  warnings: string[];
}

export const statusOf = (neovim: TestNeovim) =>
  neovim.lua<ServerStatus>(
    `local s = require("claude-code").status()
     return { state = s.state, binary = s.binary, last_error = s.last_error, warnings = MESSAGES }`,
  );

/** Waits until the server is in this state. */
export const reaches = (neovim: TestNeovim, state: "ready" | "failed") =>
  eventually(
    `the state ${state}`,
    async () => {
      const now = await statusOf(neovim);
      return now.state === state && now;
    },
    60_000,
  );

/** The folder of downloaded executables of one user. */
export class DataFolder implements AsyncDisposable {
  readonly root: string;

  constructor(readonly xdg: string = temporaryFolder()) {
    this.root = join(xdg, "claude-code.nvim");
  }

  /** Makes a running Neovim use this folder as its user's. */
  async use(neovim: TestNeovim): Promise<this> {
    await neovim.lua(`vim.env.XDG_DATA_HOME = ...`, this.xdg);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.xdg, { recursive: true, force: true });
  }

  get stable(): string {
    return join(this.root, "bin/claude-code-nvim");
  }

  get download(): string {
    return join(this.root, "download");
  }

  executable(version: string): string {
    return join(this.root, `${version}-${NATIVE.name}`, "claude-code-nvim");
  }

  /** The names of the installed versions' folders. */
  versions(): string[] {
    return entries(this.root).filter((name) => name !== "bin" && name !== "download");
  }

  /** Files that are neither installed nor verified. */
  leftovers(): string[] {
    return entries(this.download);
  }

  /** The version at the stable path, if there is one. */
  installedVersion(): string | undefined {
    if (!lstatSync(this.stable, { throwIfNoEntry: false })) return undefined;
    const { stdout, stderr, exitCode } = Bun.spawnSync([this.stable, "--version"]);
    if (exitCode !== 0) throw new Error(`${this.stable} does not run: ${stderr}`);
    return stdout.toString().trim().split(" ").at(-1);
  }

  fetching(file: string, neovim: TestNeovim): Promise<true> {
    const path = join(this.download, `${file}.${neovim.process.pid}.part`);
    return eventually("a part with bytes in it", () => Bun.file(path).size > 0);
  }
}

function entries(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** Installs as `:Claude install` does in a Neovim with a user; waits for the end. */
export async function install(neovim: TestNeovim, request = "{}"): Promise<Outcome> {
  await neovim.lua(`
    OUTCOME = nil
    require("port").install.start(${request}, function(path, message)
      OUTCOME = { path = path, message = not path and message or nil }
    end)`);
  return eventually(
    "the end of the installation",
    async () => (await neovim.lua<Outcome | null>(`return OUTCOME`)) ?? false,
    60_000,
  );
}
