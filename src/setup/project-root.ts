import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, sep } from "node:path";
import { SettingsError } from "./settings-error";

/**
 * The project that a folder belongs to, as Claude Code has it: the top of its git repository, else
 * the folder itself; a real path. Throws SettingsError for the home folder and those above it, whose
 * settings are the user's own.
 */
export function projectRoot(folder: string): string {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch {
    throw new SettingsError(`There is no folder ${folder}`);
  }
  const top = gitTop(real);
  const root = top !== undefined && !isWide(top) ? top : real;
  if (isWide(root)) {
    throw new SettingsError(
      `${root} is no project: its Claude settings would be all of yours. Go to a project's folder first`,
    );
  }
  return root;
}

/** The home folder, or one above it. */
function isWide(folder: string): boolean {
  const home = realHome();
  return folder === home || home.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The top of the git repository around a folder. */
export function gitTop(folder: string): string | undefined {
  for (let top = folder; ; top = dirname(top)) {
    if (existsSync(join(top, ".git"))) return top;
    if (dirname(top) === top) return undefined;
  }
}

function realHome(): string {
  try {
    return realpathSync(homedir());
  } catch {
    return homedir();
  }
}
