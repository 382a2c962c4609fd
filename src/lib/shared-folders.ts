import { isBelow, realPath } from "./paths";

/** A program that works for a Claude elsewhere has it: the folders that both share, as a list in JSON. */
export const SHARED_FOLDERS = "CLAUDE_CODE_NVIM_SHARED_FOLDERS";

/** Real paths; undefined: this program works for nobody elsewhere. Throws where the list is none. */
export function sharedFolders(): readonly string[] | undefined {
  const given = process.env[SHARED_FOLDERS];
  if (given === undefined) return undefined;
  return [...JSON.parse(given)].map((folder) => realPath(String(folder)));
}

/** Is the file private because a Claude elsewhere does not share it? `real`: its real path. */
export function isUnshared(real: string, shared: readonly string[] | undefined): boolean {
  return shared !== undefined && !shared.some((folder) => isBelow(real, folder));
}
