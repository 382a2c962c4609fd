import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { claudeEnv, prepareClaudeHome } from "./claude-home";
import { eventually } from "./eventually";
import type { Model } from "./model";
import { claudeCli, EXECUTABLE } from "./toolchain";

/** A folder of every system, in which a container mounts its own. */
const INSIDE = "/srv";

interface Options {
  /** The project here. */
  project: string;
  /** Its path in the container; the same one if left out. */
  at?: string;
  /** What is in the container's home. */
  home: string;
  /** Folders here that the container must not see. */
  hidden: string[];
  /** A folder of lock files here that the container has as its own. */
  locks?: string;
  model: Model;
}

/**
 * Programs in a user, pid, network and mount namespace of their own, as in a container: with another home, and
 * the project by a bind mount.
 */
export class Container {
  private constructor(
    private readonly child: ChildProcess,
    private readonly pid: number,
    readonly project: string,
    readonly env: Record<string, string>,
  ) {}

  /** Where the container's home is, in the container. */
  static readonly HOME = `${INSIDE}/home`;
  static readonly PROJECT = `${INSIDE}/x`;

  static async start(options: Options): Promise<Container> {
    const { project, at = project, home, hidden, locks, model } = options;
    for (const folder of ["tmp", "run", ".claude/ide"])
      await mkdir(join(home, folder), { recursive: true });
    await prepareClaudeHome(home, at);
    const socket = join(Container.HOME, "model.sock");
    model.listen(join(home, "model.sock"));
    const { port } = new URL(model.url);
    await writeFile(
      join(home, "forward.js"),
      `Bun.serve({ hostname: "127.0.0.1", port: ${port}, idleTimeout: 0, fetch: (r) => fetch(r.url, {
         unix: "${socket}", method: r.method, headers: r.headers, body: r.body, decompress: false }) });`,
    );
    const quoted = (path: string) => `'${path}'`;
    const mounts = [
      "ip link set lo up",
      `mount -t tmpfs tmpfs ${INSIDE}`,
      `mkdir ${Container.HOME} ${Container.PROJECT}`,
      `mount --bind ${quoted(home)} ${Container.HOME}`,
      ...(locks ? [`mount --bind ${quoted(locks)} ${Container.HOME}/.claude/ide`] : []),
      ...(at === project ? [] : [`mount --bind ${quoted(project)} ${at}`]),
      ...[...hidden, home].map((folder) => `mount -t tmpfs tmpfs ${quoted(folder)}`),
      "echo ready",
      `exec ${quoted(process.execPath)} ${Container.HOME}/forward.js`,
    ];
    const flags = [
      "--user",
      "--map-root-user",
      "--pid",
      "--net",
      "--mount",
      "--mount-proc",
      "--fork",
    ];
    const child = spawn(
      "unshare",
      [...flags, "--kill-child", "--", "sh", "-ec", mounts.join("\n")],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
    });
    await eventually("the container", () => said.includes("ready"));
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
    const env = claudeEnv(Container.HOME, model.url);
    return new Container(child, Number(children.trim()), at, env);
  }

  /** The command that runs another one there, as `docker exec` does: with its own environment. */
  exec(command: readonly string[]): string[] {
    const words = Object.entries(this.env).map(([name, value]) => `${name}=${value}`);
    const enter = ["/usr/bin/nsenter", "-t", String(this.pid), "-U", "-p", "-n", "-m"];
    const env = ["/usr/bin/env", "-i", "-C", this.project, ...words];
    return [...enter, "--preserve-credentials", "--", ...env, ...command];
  }

  /** Of the option `remotes`. */
  commands(): { command: string[]; relay: string[] } {
    return {
      command: this.exec(["/usr/bin/env", "{env}", claudeCli(), "{args}"]),
      relay: this.exec([EXECUTABLE, "relay", "--stdio"]),
    };
  }

  /** A relay that connects by a socket in this folder of the container. */
  startRelay(folder: string): void {
    const command = this.exec([EXECUTABLE, "relay", "--connect", `unix:${folder}/relay.sock`]);
    const [program = "", ...args] = command;
    spawn(program, args, { stdio: "ignore" });
  }

  /** Kills what runs there with a command line like this, and nothing outside. */
  kill(pattern: string): void {
    const { exitCode } = Bun.spawnSync(this.exec(["/usr/bin/pkill", "-KILL", "-f", pattern]));
    if (exitCode !== 0) throw new Error(`nothing runs there like ${pattern}`);
  }

  stop(): void {
    this.child.kill("SIGKILL");
  }
}

/** Lua source of the option `remotes`. */
export function remotesOption(remote: object): string {
  return `remotes = { dev = vim.json.decode([==[${JSON.stringify(remote)}]==]) }`;
}
