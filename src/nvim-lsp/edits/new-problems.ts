import type { Diagnostic } from "../../editor/model";
import type { FileChange } from "../../edits/virtual-files";
import type { NeovimProblems } from "../neovim/problems";

/** Neovim answers for so many files at once. */
const MOST_FILES = 50;

/** clangd reports with the headers it had read before, then again with those of now. */
const AGAIN_MS = 1_000;

/** Problems in files that were just changed. */
export interface ProblemsAfter {
  items: { path: string; item: Diagnostic }[];
  /** The files whose state before is known: what is listed of them is new. */
  known: string[];
}

/**
 * What language servers report of changed files, without what they reported before. `before`: of the
 * files that were open, by their real paths. Errors and warnings alone.
 */
export async function newProblems(
  problems: NeovimProblems,
  changes: readonly FileChange[],
  before: ReadonlyMap<string, Diagnostic[]>,
): Promise<ProblemsAfter> {
  const first = await reported(problems, changes, before);
  if (first.length === 0) return { items: first, known: [...before.keys()] };
  await Bun.sleep(AGAIN_MS);
  const items = await reported(problems, changes, before);
  return { items, known: [...before.keys()] };
}

async function reported(
  problems: NeovimProblems,
  changes: readonly FileChange[],
  before: ReadonlyMap<string, Diagnostic[]>,
): Promise<ProblemsAfter["items"]> {
  const paths = changes.filter(({ after }) => after).map(({ path }) => path);
  const { files } = await problems.of(paths.slice(0, MOST_FILES).map((path) => [path]));
  return files.flatMap((file) => {
    const left = (before.get(file.real) ?? []).map(signature);
    return file.items
      .filter((item) => item.severity <= 2 && !take(left, signature(item)))
      .map((item) => ({ path: file.real, item }));
  });
}

/** Without its place: lines move. */
function signature({ severity, message, source, code }: Diagnostic): string {
  return JSON.stringify([severity, message, source, code]);
}

function take(list: string[], one: string): boolean {
  const at = list.indexOf(one);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}
