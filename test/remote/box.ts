import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TestClient } from "../support/client";
import { eventually } from "../support/eventually";
import { EXECUTABLE, isolatedEnv, NEWEST, TestNeovim, temporaryFolder } from "../support/neovim";

/** The project there. No folder here has this path. */
export const THERE = "/srv/x";

/** Neovim, and a remote with a project that is there alone: the relay has mounts and a home of its own. */
export class Box implements AsyncDisposable {
  readonly #folder = temporaryFolder();
  readonly home = join(this.#folder, "home");
  readonly project = join(this.#folder, "project");
  readonly executable = EXECUTABLE;
  neovim!: TestNeovim;

  static async start(
    files: Record<string, string | Uint8Array> = {},
    version = NEWEST,
  ): Promise<Box> {
    const box = new Box();
    for (const folder of [box.home, box.project]) mkdirSync(folder);
    for (const [name, text] of Object.entries(files)) box.write(name, text);
    box.neovim = await TestNeovim.start({ version });
    await box.neovim.lock();
    await box.neovim.lua(`
      SAID = {}
      vim.notify = function(text) table.insert(SAID, text) end
      require("claude-code").setup({ terminal = { remote = "box" }, remotes = { box = {
        command = { "/bin/sh", "-c", "exec cat", "{env}", "{args}" },
        relay = vim.json.decode([=[${JSON.stringify(box.inside([EXECUTABLE, "relay", "--stdio"]))}]=]),
        path_mappings = { ["${THERE}"] = false },
      } } })
      vim.cmd("Claude")
      vim.cmd("stopinsert | wincmd p | only")`);
    await box.up();
    return box;
  }

  /** A command as it runs there. */
  inside(command: readonly string[]): string[] {
    const env = isolatedEnv(this.home);
    const words = ["HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"];
    const mounts = `mount -t tmpfs tmpfs /srv && mkdir ${THERE} && mount --bind '${this.project}' ${THERE} && exec "$@"`;
    const namespaces = ["/usr/bin/unshare", "--user", "--map-root-user", "--mount", "--"];
    const variables = words.map((name) => `${name}=${env[name]}`);
    const unset = ["CLAUDE_CONFIG_DIR", "NVIM"].flatMap((name) => ["-u", name]);
    const start = ["/usr/bin/env", "-C", "/", ...unset, ...variables, ...command];
    return [...namespaces, "/bin/sh", "-c", mounts, "sh", ...start];
  }

  status(): Promise<string> {
    return this.neovim.lua(`return table.concat(require("port").status_lines(), "\\n")`);
  }

  async up(): Promise<void> {
    await eventually("the remote is up", async () => (await this.status()).includes("box: up"));
  }

  /** A Claude there. */
  client(): Promise<TestClient> {
    const folder = join(this.home, ".claude/ide");
    const [name = ""] = readdirSync(folder);
    const content = JSON.parse(readFileSync(join(folder, name), "utf8"));
    return TestClient.open({ port: Number.parseInt(name, 10), content }, "claude-code");
  }

  /** The relay's process: the child of the server of this Neovim, which each program before it becomes. */
  async relay(): Promise<number> {
    const server = await this.neovim.lua<number>(`return require("port").server.process.pid`);
    const { stdout } = Bun.spawnSync(["pgrep", "-P", `${server}`, "-f", "relay --stdio"]);
    return Number(stdout.toString().split("\n")[0]);
  }

  write(name: string, text: string | Uint8Array): void {
    mkdirSync(dirname(join(this.project, name)), { recursive: true });
    writeFileSync(join(this.project, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.project, name), "latin1");
  }

  /** The file's copy here. */
  mirror(name: string): string {
    const folder = join(this.neovim.home, ".local/state/claude-code.nvim/mirrors");
    const [own = ""] = readdirSync(folder);
    return join(folder, own, THERE, name);
  }

  text(name: string): Promise<string> {
    return this.neovim.lua(
      `local buf = require("port").paths.loaded_buffer((...))
       return buf and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\\n") or ""`,
      this.mirror(name),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.neovim[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
