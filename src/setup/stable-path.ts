import { existsSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { replace } from "../lib/atomic-write";
import { stablePath } from "../lib/paths";

/**
 * Makes the stable path lead to the executable that runs, where it leads nowhere yet. What a download
 * has put there stays. Throws the system's error.
 */
export function ensureStablePath(path = stablePath()): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  replace(path, (draft) => symlinkSync(lastingName(process.execPath), draft));
}

/**
 * The name on $PATH that leads to the executable, if there is one: a package manager keeps that, and
 * removes the folder of the version that is run now.
 */
function lastingName(executable: string): string {
  const real = realpathSync(executable);
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const names = folders.map((folder) => join(folder, basename(executable)));
  return names.find((name) => existsSync(name) && realpathSync(name) === real) ?? executable;
}
