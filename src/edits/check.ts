import { relative } from "node:path";
import { isBelow } from "../lib/paths";
import type { AskNeovim } from "./neovim";
import { EditProblem } from "./problem";

/** What Neovim says of a file that would change (lua/claude-code/editor/edits/check.lua). */
export interface CheckedFile {
  path: string;
  /** Of its loaded buffer: b:changedtick, and the SHA-256 of the text as it was read. */
  tick?: number;
  digest?: string;
}

interface Check {
  files: (CheckedFile & { problem?: "private" | "outside" | "unsaved" | "version" })[];
}

/** Of one call, so that Neovim never stands still. */
const MOST_FILES = 10;

const SENTENCES = {
  outside: (names: string) => `These files are not in the workspace: ${names}.`,
  version: (names: string) =>
    `The text of these files changed while the language server worked: ${names}. Try again.`,
  unsaved: (names: string) =>
    `These files have unsaved changes in Neovim: ${names}. Neovim asks the user whether to save them; try again after that.`,
};

/**
 * Asks Neovim whether these files may change, before anything reads them. Throws EditProblem, which
 * names what is in the way, but not a private file.
 */
export async function checkFiles(
  files: readonly { path: string; version?: number }[],
  root: string,
  label: string,
  ask: AskNeovim,
): Promise<CheckedFile[]> {
  const answered: Check["files"] = [];
  for (let at = 0; at < files.length; at += MOST_FILES) {
    const edits = files.slice(at, at + MOST_FILES);
    answered.push(...((await ask("edits_check", { edits })) as Check).files);
  }
  const problems: string[] = [];
  const isPrivate = answered.filter(({ problem }) => problem === "private").length;
  if (isPrivate > 0) {
    const what = isPrivate === 1 ? "a private file" : `${isPrivate} private files`;
    problems.push(`It would change ${what} (option privacy.patterns).`);
  }
  for (const problem of ["outside", "version", "unsaved"] as const) {
    const found = answered.filter((file) => file.problem === problem);
    if (found.length > 0) problems.push(SENTENCES[problem](listed(found, root)));
    // Only where saving is all that is missing.
    if (problem === "unsaved" && found.length > 0 && problems.length === 1) {
      await ask("edits_unsaved", { label, edits: found.map(({ path }) => ({ path })) });
    }
  }
  if (problems.length > 0) throw new EditProblem(problems.join(" "));
  return answered;
}

const MOST_NAMES = 20;

function listed(files: readonly CheckedFile[], root: string): string {
  const names = files.slice(0, MOST_NAMES).map(({ path }) => shownPath(path, root));
  const more = files.length > MOST_NAMES ? ` and ${files.length - MOST_NAMES} more` : "";
  return names.join(", ") + more;
}

/** Relative to `root` where the file lies below it. */
export function shownPath(path: string, root: string): string {
  return isBelow(path, root) && path !== root ? relative(root, path) : path;
}
