import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "../../src/lib/platform";
import { claudeEnv, prepareClaudeHome } from "./claude-home";
import { eventually } from "./eventually";
import type { Model } from "./model";
import { claudeCli, EXECUTABLE } from "./toolchain";

/** A folder of every system, in which a container mounts its own. */
const INSIDE = "/srv";

interface Options {
  project: string;
  /** Its path in the container; the same one if left out. */
  at?: string;
  home: string;
  /** Folders here that the container must not see. */
  hidden: string[];
  /** A folder of lock files here that the container uses as its own. */
  locks?: string;
  model: Model;
  /** Behaves like another machine that is reached by ssh, but shares loopback with this one. */
  ssh?: boolean;
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
    private readonly ssh: SshServer | undefined,
  ) {}

  /** The container's home, in the container. */
  static readonly HOME = `${INSIDE}/home`;
  static readonly PROJECT = `${INSIDE}/x`;

  static async start(options: Options): Promise<Container> {
    const { project, at = project, home, hidden, locks, model } = options;
    for (const folder of ["tmp", "run", ".claude/ide"])
      await mkdir(join(home, folder), { recursive: true, mode: 0o700 });
    await prepareClaudeHome(home, at);
    const env = claudeEnv(Container.HOME, model.url);
    const ssh = options.ssh ? SshServer.make(home, Container.HOME, env) : undefined;
    const quoted = (path: string) => `'${path}'`;
    const mounts = [
      `mount -t tmpfs tmpfs ${INSIDE}`,
      `mkdir ${Container.HOME} ${Container.PROJECT}`,
      `mount --bind ${quoted(home)} ${Container.HOME}`,
      ...(locks ? [`mount --bind ${quoted(locks)} ${Container.HOME}/.claude/ide`] : []),
      ...(at === project ? [] : [`mount --bind ${quoted(project)} ${at}`]),
      ...[...hidden, home].map((folder) => `mount -t tmpfs tmpfs ${quoted(folder)}`),
      "echo ready",
      ...(ssh?.main ?? (await ownNetwork(home, model))),
    ];
    const namespaces = ["--user", "--map-root-user", "--pid", "--mount", ...(ssh ? [] : ["--net"])];
    const flags = [...namespaces, "--mount-proc", "--fork", "--kill-child"];
    const child = spawn("unshare", [...flags, "--", "sh", "-ec", mounts.join("\n")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
    });
    await eventually("the container", () => said.includes("ready"));
    await ssh?.listening();
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
    return new Container(child, Number(children.trim()), at, env, ssh);
  }

  /** The command that runs another one there, as `docker exec` does: with its own environment. */
  exec(command: readonly string[]): string[] {
    const words = Object.entries(this.env).map(([name, value]) => `${name}=${value}`);
    const enter = ["/usr/bin/nsenter", "-t", String(this.pid), "-U", "-p", "-n", "-m"];
    const env = ["/usr/bin/env", "-i", "-C", this.project, ...words];
    return [...enter, "--preserve-credentials", "--", ...env, ...command];
  }

  /** For the option `remotes`. */
  commands(): { command: string[]; relay: string[] } {
    if (this.ssh) {
      const command = `cd ${this.project} && env {env} ${claudeCli()} {args}`;
      return {
        command: this.ssh.command(command, "-t"),
        relay: this.ssh.command(`${EXECUTABLE} relay --stdio`),
      };
    }
    return {
      command: this.exec(["/usr/bin/env", "{env}", claudeCli(), "{args}"]),
      relay: this.exec([EXECUTABLE, "relay", "--stdio"]),
    };
  }

  pids(pattern: string): number[] {
    const own = ["--ns", String(this.pid), "--nslist", "pid"];
    const { stdout } = Bun.spawnSync(["pgrep", ...own, "-f", pattern]);
    return stdout.toString().split("\n").filter(Boolean).map(Number);
  }

  stop(): void {
    this.child.kill("SIGKILL");
  }
}

/** Lines for a shell in a network of its own, in which the model is reached as here. */
async function ownNetwork(home: string, model: Model): Promise<string[]> {
  model.listen(join(home, "model.sock"));
  const { port } = new URL(model.url);
  await writeFile(
    join(home, "forward.js"),
    `Bun.serve({ hostname: "127.0.0.1", port: ${port}, idleTimeout: 0, fetch: (r) => fetch(r.url, {
       unix: "${Container.HOME}/model.sock", method: r.method, headers: r.headers, body: r.body, decompress: false }) });`,
  );
  return ["ip link set lo up", `exec '${process.execPath}' ${Container.HOME}/forward.js`];
}

export function remotesOption(remote: object): string {
  return `remotes = { dev = vim.json.decode([==[${JSON.stringify(remote)}]==]) }`;
}

const USER = "someone";
/** The only id besides root's in the namespace: as root, sshd would change to its own user. */
const UID = 1000;
const quoted = (text: string) => `"${text.replaceAll('"', '\\"')}"`;

/** A real sshd on loopback in namespaces of its own, with its own home and keys. */
class SshServer {
  private constructor(
    private readonly home: string,
    private readonly inside: string,
    private readonly port: number,
  ) {}

  /** `home` is the folder `inside` there, whose logins have the variables `env`. */
  static make(home: string, inside: string, env: Record<string, string>): SshServer {
    const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { port } = listener;
    listener.stop();
    const folder = join(home, ".ssh");
    mkdirSync(folder, { mode: 0o700 });
    for (const name of ["host", "key"]) {
      const words = ["-qt", "ed25519", "-N", "", "-f", `${folder}/${name}`];
      const made = Bun.spawnSync(["ssh-keygen", ...words]);
      if (made.exitCode !== 0) throw new Error(`ssh-keygen: ${made.stderr}`);
    }
    const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
    const lines = (words: Record<string, string>) =>
      Object.entries(words).map(([name, value]) => `${name} ${value}\n`);
    const server = {
      ...{ ListenAddress: "127.0.0.1", Port: `${port}`, PidFile: "none", UsePAM: "no" },
      ...{ HostKey: `${inside}/.ssh/host`, AuthorizedKeysFile: `${inside}/.ssh/key.pub` },
      ...{ StrictModes: "no", LogLevel: "QUIET", SetEnv: variables.join(" ") },
    };
    const client = {
      ...{ Host: "box", HostName: "127.0.0.1", Port: `${port}`, User: USER },
      ...{ IdentityFile: `${folder}/key`, IdentitiesOnly: "yes", LogLevel: "ERROR" },
      ...{ UserKnownHostsFile: "/dev/null", GlobalKnownHostsFile: "/dev/null" },
      StrictHostKeyChecking: "no",
    };
    writeFileSync(`${folder}/sshd_config`, lines(server).join(""));
    writeFileSync(`${folder}/config`, lines(client).join(""));
    writeFileSync(`${folder}/passwd`, `${USER}:x:${UID}:${UID}::${inside}:/bin/sh\n`);
    writeFileSync(`${folder}/group`, `${USER}:x:${UID}:\n`);
    return new SshServer(home, inside, port);
  }

  /** Lines for a shell that has the namespaces, and the home mounted. */
  get main(): string[] {
    const path = Bun.which("sshd");
    if (!path) throw new Error("no sshd: run scripts/toolchain");
    const folder = `${this.inside}/.ssh`;
    return [
      ...["passwd", "group"].map((name) => `mount --bind ${folder}/${name} /etc/${name}`),
      "mount -t devpts -o newinstance,ptmxmode=666 devpts /dev/pts",
      "mount --bind /dev/pts/ptmx /dev/ptmx",
      `exec unshare --user --map-user=${UID} --map-group=${UID} ${path} -De -f ${folder}/sshd_config`,
    ];
  }

  async listening(): Promise<void> {
    const open = { hostname: "127.0.0.1", port: this.port, socket: { data() {} } };
    (await eventually("sshd", () => Bun.connect(open))).end();
  }

  /** The command that runs `line`, which a shell there reads. */
  command(line: string, ...options: string[]): string[] {
    return ["ssh", "-F", `${this.home}/.ssh/config`, ...options, "box", line];
  }
}
