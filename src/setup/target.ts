import { existsSync, lstatSync } from "node:fs";
import { UserError } from "../lib/errors";
import { isBelow, realPath } from "../lib/paths";

/**
 * The real path of a project's file, whether it is there or not. Throws UserError where symlinks lead
 * out of the project, or nowhere: a clone may hold a link to the user's own settings.
 */
export function targetWithin(root: string, path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink && !existsSync(path)) {
    throw new UserError(`${path} is a symlink that leads nowhere: remove it first`);
  }
  const target = realPath(path);
  if (isBelow(target, root)) return target;
  throw new UserError(
    `${path} leads out of the project, to ${target}: replace the symlink by a file or folder first`,
  );
}

/** The path for a plan's text: with its target, if it has another one. */
export function withTarget(root: string, path: string): string {
  const target = targetWithin(root, path);
  return target === path ? path : `${path} (a symlink to ${target})`;
}
