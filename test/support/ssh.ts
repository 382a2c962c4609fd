import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually";

const USER = "someone";
/** The only number besides root's that a namespace has, since sshd as root wants to change to its own user. */
const UID = 1000;
const quoted = (text: string) => `"${text.replaceAll('"', '\\"')}"`;

/** A real sshd on loopback in namespaces of its own, with a home and keys that nobody else has. */
export class SshServer {
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
      const made = Bun.spawnSync([
        "ssh-keygen",
        "-qt",
        "ed25519",
        "-N",
        "",
        "-f",
        `${folder}/${name}`,
      ]);
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
