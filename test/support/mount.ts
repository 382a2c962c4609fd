import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "../../src/lib/platform";
import { platformSkip } from "./platform-skip";

/**
 * Writes a script in `place` that runs `program` with its arguments while a new tmpfs with the mount options `options`
 * is mounted on `folder`. Returns null, and prints a `platform skip:` line, where only root may mount.
 */
export async function inMount(
  folder: string,
  options: string,
  program: string,
  place: string,
): Promise<string | null> {
  const mount = `mount -t tmpfs -o ${options} tmpfs "${folder}"`;
  if (Bun.which("unshare") !== null && Bun.spawnSync([...UNSHARE, "sh", "-c", mount]).success)
    return script([mount], program, place);
  platformSkip("no mount namespace, so no full, read-only or noexec disk");
  return null;
}

/** Writes a script in `place` that runs `program` where the CLI finds these settings of an organization. */
export async function inOrganization(settings: object, program: string, place: string) {
  const etc = join(place, "etc");
  await mkdir(etc);
  await writeFile(join(place, "managed.json"), JSON.stringify(settings));
  const commands = [
    ...[`mount --rbind /etc "${etc}"`, "mount -t tmpfs tmpfs /etc", `ln -s "${etc}"/* /etc/`],
    "mkdir /etc/claude-code",
    `cp "${place}/managed.json" /etc/claude-code/managed-settings.json`,
  ];
  return script(commands, program, place);
}

const UNSHARE = ["unshare", "--map-root-user", "--mount", "--"];

async function script(commands: string[], program: string, place: string): Promise<string> {
  const path = join(place, "mounted");
  const inner = [...commands, `exec "${program}" "$@"`].join(" && ");
  await writeFile(path, `#!/bin/sh\nexec ${UNSHARE.join(" ")} sh -c '${inner}' sh "$@"\n`);
  await chmod(path, 0o755);
  return path;
}
