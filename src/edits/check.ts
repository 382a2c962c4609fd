import { isBelow, shownPath } from "../lib/paths";
import { hash } from "./operation";
import { EditProblem } from "./problem";

/** What Neovim says of a file that would change (lua/claude-code/editor/edits/check.lua). */
export interface CheckedFile {
  path: string;
  /** b:changedtick of its loaded buffer, and the text as it was read, part for part. */
  tick?: number;
  parts?: { size: number; digest: string }[];
}

interface Answered extends CheckedFile {
  problem?: "private" | "outside" | "unsaved" | "version";
}

/**
 * Names, in lower case, that run or configure programs, by themselves or once somebody opens the folder: Claude
 * Code's own editing tools ask about most of them each time. Its work trees are no configuration.
 */
const PROTECTED =
  /\/(\.(git|vscode|idea|husky|devcontainer|nvim-claude|gitconfig|gitmodules|mcp\.json|claude\.json|exrc|nvimrc|nvim\.lua|lazy\.lua|envrc|profile|bashrc|bash_profile|bash_login|zshrc|zprofile|zshenv|ripgreprc)|\.claude(?!\/worktrees\/[^/]+\/))(\/|$)/;

/** What Neovim says of the first files; `next_row`: the last of them has more parts. */
interface Check {
  files: Answered[];
  next_row?: number;
}

/** The most of one call. Neovim answers for the first of them, so that it never stands still. */
const MOST_FILES = 20;

const SENTENCES = {
  protected: (names: string) =>
    `These names run or configure something, so this tool leaves them alone: ${names}. Use Edit or Write.`,
  outside: (names: string) => `These files are not in the workspace: ${names}.`,
  version: (names: string) =>
    `The text of these files changed while the language server worked: ${names}. Try again.`,
  unsaved: (names: string) =>
    `These files have unsaved changes in Neovim: ${names}. Try again once they are saved.`,
};

/**
 * Asks Neovim whether these files may change, before Claude learns anything of them. Throws EditProblem,
 * which names what is in the way, but not a private file. `isUsers`: the user changes them, private
 * ones and others as well.
 */
export async function checkFiles(
  files: readonly { path: string; version?: number }[],
  root: string,
  ask: AskNeovim,
  isUsers = false,
): Promise<CheckedFile[]> {
  const answered = await askAbout(files, isUsers, ask);
  const problems: string[] = [];
  const found = answered.filter(({ path }) => isProtected(path, root));
  if (found.length > 0) problems.push(SENTENCES.protected(listed(found, root)));
  const isPrivate = answered.filter(({ problem }) => problem === "private").length;
  if (isPrivate > 0) {
    const what = isPrivate === 1 ? "a private file" : `${isPrivate} private files`;
    problems.push(`It would change ${what} (option privacy.patterns).`);
  }
  for (const problem of ["outside", "version", "unsaved"] as const) {
    const found = answered.filter((file) => file.problem === problem);
    if (found.length > 0) problems.push(SENTENCES[problem](listed(found, root)));
  }
  if (problems.length > 0) throw new EditProblem(problems.join(" "));
  return answered;
}

/** A project may itself lie in such a folder: only what is below it counts. */
export function isProtected(path: string, root: string): boolean {
  const below = isBelow(path, root) ? path.slice(root.length) : path;
  return PROTECTED.test(`/${below}`.replaceAll("\\", "/").toLowerCase());
}

async function askAbout(files: readonly object[], isUsers: boolean, ask: AskNeovim) {
  const answered: Answered[] = [];
  let begun: Answered | undefined;
  let row = 0;
  while (answered.length < files.length) {
    const edits = files.slice(answered.length, answered.length + MOST_FILES);
    const params = { edits, row, by_user: isUsers };
    const { files: found, next_row } = (await ask("edits_check", params)) as Check;
    const [first, ...others] = found;
    if (!first) throw new Error("edits_check answered for no file");
    const all = [begun ? joined(begun, first) : first, ...others];
    begun = next_row === undefined ? undefined : all.pop();
    row = next_row ?? 0;
    answered.push(...all);
  }
  return answered;
}

function joined(begun: Answered, next: Answered): Answered {
  if (next.problem === undefined && begun.tick !== next.tick)
    return { ...next, problem: "version" };
  return { ...next, parts: [...(begun.parts ?? []), ...(next.parts ?? [])] };
}

/** Whether a loaded buffer had this text when it was checked; true where none is loaded. */
export function hasText({ parts }: CheckedFile, bytes: Uint8Array | undefined): boolean {
  if (!parts) return true;
  let at = 0;
  for (const { size, digest } of parts) {
    if (hash(bytes?.subarray(at, at + size)) !== digest) return false;
    at += size;
  }
  return at === bytes?.length;
}

const MOST_NAMES = 20;

/** The first names, for a message. */
export function listed(files: readonly { path: string }[], root: string): string {
  const names = files.slice(0, MOST_NAMES).map(({ path }) => shownPath(path, root));
  const more = files.length > MOST_NAMES ? ` and ${files.length - MOST_NAMES} more` : "";
  return names.join(", ") + more;
}

/**
 * Runs a method of the plugin's. Rejects with EditorBusyError (without an answer after `deadlineMs`),
 * EditorRefusal, or an error of the connection.
 */
export type AskNeovim = (method: string, params: object, deadlineMs?: number) => Promise<unknown>;
