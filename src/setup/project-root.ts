import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { gitTop } from "../claude/project";
import { UserError } from "../lib/errors";
import { isBelow, realPath } from "../lib/paths";

/**
 * The project that a folder belongs to, as Claude Code has it: the top of its git repository, else
 * the folder itself; a real path. Throws UserError for the home folder and those above it, whose
 * settings are the user's own.
 */
export function projectRoot(folder: string): string {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch {
    throw new UserError(`there is no folder ${folder}`);
  }
  const top = gitTop(real);
  const root = top !== undefined && !isHomeOrAbove(top) ? top : real;
  if (isHomeOrAbove(root)) {
    throw new UserError(
      `${root} is not a project: its Claude settings apply to all your work. Go to a project's folder first`,
    );
  }
  return root;
}

function isHomeOrAbove(folder: string): boolean {
  return isBelow(realPath(homedir()), folder);
}
