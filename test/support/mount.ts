import { chmod, writeFile } from "node:fs/promises";
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
  const unshare = ["unshare", "--map-root-user", "--mount", "--"];
  const mount = `mount -t tmpfs -o ${options} tmpfs "${folder}"`;
  const possible = Bun.which("unshare") !== null;
  if (!possible || Bun.spawnSync([...unshare, "sh", "-c", mount]).exitCode !== 0) {
    platformSkip("no mount namespace, so no full, read-only or noexec disk");
    return null;
  }
  const script = join(place, "mounted");
  const inner = `${mount} && exec "${program}" "$@"`;
  await writeFile(script, `#!/bin/sh\nexec ${unshare.join(" ")} sh -c '${inner}' sh "$@"\n`);
  await chmod(script, 0o755);
  return script;
}
