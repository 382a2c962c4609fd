import { headOf } from "../git/committed";
import { Git } from "../git/run";
import { DECIDED_MS } from "../journal/prune";
import type { UndoRecord } from "../journal/record";
import { modeOf } from "../state/entry";
import type { Decision, ReviewedProject } from "../state/reviewed-project";
import { takenBack } from "../weave/decision";
import { sameLines } from "../weave/lines";
import { type AppliedFile, applyAll, type FileTarget, recordWritten } from "./apply";
import { changeIndex, type IndexChange, indexBefore } from "./index-entries";
import type { Undone } from "./undo";

/** These decisions follow from what the user did elsewhere. */
const NOT_TAKEN_BACK: ReadonlySet<string> = new Set(["commit", "home"]);

/** The decision to take back next: the user's last one with files, if the journal has everything before it. */
export function lastDecision(project: ReviewedProject): Decision | undefined {
  const oldest = Date.now() - DECIDED_MS;
  return project.decisions.findLast((one) => {
    const isUsers = one.type !== "keep" || !NOT_TAKEN_BACK.has(one.why);
    return one.at > oldest && one.files.length > 0 && isUsers;
  });
}

/**
 * Takes a decision back, even if other decisions followed: kept changes are pending again, and undone changes come back.
 * The decision stays in files that cannot be written, and in buffers until Neovim reports that it has applied the edits.
 * `texts` has the texts of buffers by path. Throws the system's error if it cannot record this.
 */
export async function takeBack(
  project: ReviewedProject,
  decision: Decision,
  texts: ReadonlyMap<string, Uint8Array>,
): Promise<Undone> {
  const undone = decision.type === "keep" ? [] : decision.files;
  const targets = targetsOf(project, decision.id, undone, texts);
  // Write to disk first. If recording then fails, the user can try again; if writing failed after recording, the text
  // could not be restored.
  const files = applyAll(project, targets);
  const failed = new Set(files.flatMap(({ path, problem }) => (problem ? [path] : [])));
  const changes = undone.flatMap(({ path, index }): [string, IndexChange][] => {
    return index && !failed.has(path) ? [[path, index]] : [];
  });
  await changeIndex(project, await indexBefore(project, new Map(changes)));
  // Record the user's later edits as the user's before the marks disappear.
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

interface Restored extends FileTarget {
  /** Whether a killed process has restored the text without recording it. The text is then not the user's. */
  isThere: boolean;
}

function targetsOf(
  project: ReviewedProject,
  id: string,
  undone: UndoRecord["files"],
  texts: ReadonlyMap<string, Uint8Array>,
): Restored[] {
  return undone.flatMap(({ path, mode: recorded }): Restored[] => {
    const file = project.files.get(path);
    if (!file) return [];
    const text = texts.get(path);
    const marks = file.marks.filter(({ undo }) => undo === id);
    const view = project.view(file, text);
    const target = view ? takenBack(view.weave, id).lines : [];
    const { weave } = file;
    const isTaken = !view || !weave || sameLines(view.lines, target);
    const isThere = !isTaken && sameLines(view.lines, takenBack(weave, id).lines);
    const isOurs = target.length > 0 && (marks.length > 0 || view?.lines.length === 0);
    const mode = isOurs ? recorded || modeOf({ marks, view })?.after : undefined;
    const inBuffer = text !== undefined;
    return [{ file, view, target: isThere ? view.lines : target, inBuffer, mode, isThere }];
  });
}
