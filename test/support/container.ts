import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClaudeOptions } from "./claude";

/** The name by which a container of Docker Desktop reaches the machine that it runs on. */
export const HOST_NAME = "host.docker.internal";

/**
 * How the genuine CLI starts where it runs as in a container of Docker Desktop: with process ids and
 * mounts of its own, another home, and of the machine's folders the project at the same path and the one
 * for lock files, `locks` in Neovim's home. The machine has another name there, and the same loopback, as
 * Docker Desktop's has.
 */
export async function inContainer(
  home: string,
  { locks, mode }: { locks: string; mode: "ro" | "rw" },
): Promise<Partial<ClaudeOptions>> {
  const inner = join(home, "container");
  for (const folder of ["tmp", "run", ".claude/ide"]) {
    await mkdir(join(inner, folder), { recursive: true });
  }
  const hosts = join(inner, "hosts");
  await writeFile(hosts, `127.0.0.1 localhost ${HOST_NAME}\n`);
  const mounts = [
    `mount --bind '${hosts}' /etc/hosts`,
    `mount --bind '${join(home, locks)}' '${inner}/.claude/ide'`,
    `mount -o remount,bind,${mode} '${inner}/.claude/ide'`,
    // The CLI is not the first process, whom no signal ends by default.
    '"$@"; exit $?',
  ];
  const namespaces = ["unshare", "--mount", "--pid", "--kill-child", "--mount-proc"];
  return {
    home: inner,
    inside: [...namespaces, "--", "sh", "-c", mounts.join(" && "), "sh"],
    env: { CLAUDE_CODE_IDE_HOST_OVERRIDE: HOST_NAME },
    args: ["--ide"],
  };
}
