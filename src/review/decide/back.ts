import { headOf } from "../git/committed";
import { Git } from "../git/run";
import { DECIDED_MS } from "../journal/prune";
import type { RecordOf } from "../journal/record";
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
 * is there again; it remains taken in files that cannot be written, and in buffers that get edits,
 * until Neovim says that they have them. `texts` are those of buffers, by path. Throws the system's
 * error where it cannot be recorded.
 */
export async function takeBack(
  project: ReviewedProject,
  decision: Decision,
  texts: ReadonlyMap<string, Uint8Array>,
): Promise<Undone> {
  const undone = decision.type === "undo" ? decision.files : [];
  const targets = targetsOf(project, decision.id, undone, texts);
  // Write the disk first. If recording then fails, the user can take the decision back once more; if
  // writing failed after recording, the text could not be restored.
  const files = applyAll(project, targets);
  const failed = new Set(files.flatMap(({ path, problem }) => (problem ? [path] : [])));
  const changes = undone.flatMap(({ path, index }): [string, IndexChange][] => {
    return index && !failed.has(path) ? [[path, index]] : [];
  });
  await changeIndex(project, await indexBefore(project, new Map(changes)));
  // The user's later edits of the text are theirs before the marks go.
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
  id: string,
  undone: RecordOf<"undo">["files"],
  texts: ReadonlyMap<string, Uint8Array>,
): Restored[] {
  return undone.flatMap(({ path, mode: recorded }): Restored[] => {
    const file = project.files.get(path);
    if (!file) return [];
    const text = texts.get(path);
    const marks = file.marks.filter(({ undo }) => undo === id);
    const view = project.view(file, text);
    const target = view ? takenBack(view.weave, id).lines : [];
    const isThere = view !== undefined && isWritten(file, view, target, id);
    const isOurs = marks.length > 0 || view?.lines.length === 0;
    const mode = isOurs ? recorded || modeOf({ marks, view })?.after : undefined;
    const inBuffer = text !== undefined;
    return [{ file, view, target: isThere ? view.lines : target, inBuffer, mode, isThere }];
  });
}

/** See `isThere`; `target` is what the text would become. */
function isWritten({ weave }: TrackedFile, view: View, target: Lines, id: string): boolean {
  if (weave === undefined || sameLines(view.lines, target)) return false;
  return sameLines(view.lines, takenBack(weave, id).lines);
}
