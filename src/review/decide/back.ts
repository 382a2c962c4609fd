import { headOf } from "../git/committed";
import { Git } from "../git/run";
import { DECIDED_MS } from "../journal/prune";
import { modeOf } from "../state/entry";
import type { Decision, ReviewedProject, View } from "../state/reviewed-project";
import type { TrackedFile } from "../state/tracked-file";
import { takenBack } from "../weave/decision";
import { type Lines, sameLines } from "../weave/lines";
import { type AppliedFile, applyAll, type FileTarget, recordWritten } from "./apply";
import { changeIndex, type IndexChange, indexBefore } from "./index-entries";
import type { Undone } from "./undo";

/** These follow from what the user has done elsewhere. */
const NOT_TAKEN_BACK: ReadonlySet<string> = new Set(["commit", "home"]);

/**
 * The decision that the next taking back is about: the user's last one that changed anything, as long as
 * the journal has all that came before it.
 */
export function lastDecision(project: ReviewedProject): Decision | undefined {
  const oldest = Date.now() - DECIDED_MS;
  return project.decisions.findLast((one) => {
    const isUsers = one.type !== "keep" || !NOT_TAKEN_BACK.has(one.why);
    return one.at > oldest && one.files.length > 0 && isUsers;
  });
}

/**
 * Takes a decision back, whatever came after it: what was kept is pending again, and what was undone
 * stands there again; it remains taken in files that cannot be written, and in buffers that get edits,
 * until Neovim says that they have them. `texts` are those of buffers, by path. Throws the system's
 * error where it cannot be recorded.
 */
export async function takeBack(
  project: ReviewedProject,
  decision: Decision,
  texts: ReadonlyMap<string, Uint8Array>,
): Promise<Undone> {
  const targets = decision.type === "undo" ? targetsOf(project, decision, texts) : [];
  // The disk first: of a text that is there again, the user can take the decision back once more. Of
  // one that is recorded as taken back nobody could bring the text again.
  const files = applyAll(project, targets);
  const entries = await indexBefore(project, indexChanges(decision, files));
  await changeIndex(project, entries);
  // What the user has made of the text since then is theirs before the marks go.
  const failed = new Set(files.flatMap(({ path, problem }) => (problem ? [path] : [])));
  const seen = targets.flatMap(({ file: { path, weave }, view, isThere }) => {
    if (!view || !weave || isThere || failed.has(path)) return [];
    if (sameLines(view.lines, weave.lines)) return [];
    return [{ path, content: project.contents.put(view.lines) }];
  });
  if (seen.length > 0) project.append({ type: "written", files: seen });
  const head = (await Git.in(project.root)?.run(headOf(project.root))) ?? undefined;
  const isDone = ({ problem, edits }: AppliedFile) => !problem && !edits?.length;
  const paths = files.every(isDone) ? [undefined] : files.filter(isDone).map(({ path }) => path);
  const ids = paths.map((path) => {
    return project.append({ type: "back", decision: decision.id, path, head }).id;
  });
  recordWritten(project, targets, files);
  return { decision: ids[0], files };
}

/** A file of an undo that is taken back. */
interface Restored extends FileTarget {
  /**
   * All that the undo took away is there again, as it was, and would come twice: a process that was killed has
   * written it before it could record that. It is not the user's.
   */
  isThere: boolean;
}

function targetsOf(
  project: ReviewedProject,
  decision: Decision,
  texts: ReadonlyMap<string, Uint8Array>,
): Restored[] {
  return decision.files.flatMap(({ path }): Restored[] => {
    const file = project.files.get(path);
    if (!file) return [];
    const text = texts.get(path);
    const marks = file.marks.filter(({ undo }) => undo === decision.id);
    const view = project.view(file, text);
    const target = view ? takenBack(view.weave, decision.id).lines : [];
    const isThere = view !== undefined && isWritten(file, view, target, decision);
    const isOurs = marks.length > 0 || view?.lines.length === 0;
    const mode = isOurs
      ? recordedMode(decision, path) || modeOf({ marks, view })?.after
      : undefined;
    const inBuffer = text !== undefined;
    return [{ file, view, target: isThere ? view.lines : target, inBuffer, mode, isThere }];
  });
}

/** See `isThere`; `target` is what the text would become. */
function isWritten({ weave }: TrackedFile, view: View, target: Lines, { id }: Decision): boolean {
  if (weave === undefined || sameLines(view.lines, target)) return false;
  return sameLines(view.lines, takenBack(weave, id).lines);
}

/** What an undo has changed in git's index, of the files that are as before it. */
function indexChanges(
  decision: Decision,
  files: readonly AppliedFile[],
): ReadonlyMap<string, IndexChange> {
  const undone = decision.type === "undo" ? decision.files : [];
  const done = new Set(files.filter(({ problem }) => !problem).map(({ path }) => path));
  const some = undone.filter(({ path }) => done.has(path));
  return new Map(some.flatMap(({ path, index }) => (index ? [[path, index]] : [])));
}

/** The permission bits of a file that the decision removed, or changed. */
function recordedMode(decision: Decision, path: string): number | undefined {
  if (decision.type !== "undo") return undefined;
  return decision.files.find((file) => file.path === path)?.mode;
}
