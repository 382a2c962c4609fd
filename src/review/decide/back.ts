import type { Decision, Project, View } from "../state/project";
import type { TrackedFile } from "../state/tracked-file";
import { takenBack } from "../weave/decision";
import { settle, type Undone, type UndoneFile } from "./undo";

/** The decision that the next taking back is about: the user's last one that changed anything. */
export function lastDecision(project: Project): Decision | undefined {
  return project.decisions.findLast((one) => {
    return one.files.length > 0 && (one.type !== "keep" || one.why !== "commit");
  });
}

/**
 * Takes a decision back, whatever came after it: what was kept is pending again, and what was undone
 * stands there again. `texts` are those of buffers, by path. Throws the system's error where it
 * cannot be recorded.
 */
export function takeBack(
  project: Project,
  decision: Decision,
  texts: ReadonlyMap<string, Uint8Array>,
): Undone {
  const plans = decision.type === "undo" ? plansFor(project, decision, texts) : [];
  const record = project.append({ type: "back", decision: decision.id });
  const files = plans.map(({ file, view, inBuffer, mode }): UndoneFile => {
    if (!view) return { path: file.path, problem: `${file.path} cannot be read` };
    const target = takenBack(view.weave, decision.id).lines;
    return { path: file.path, ...settle(project, { file, view, target, inBuffer }, mode) };
  });
  return { decision: record.id, files };
}

interface Plan {
  file: TrackedFile;
  view: View | undefined;
  inBuffer: boolean;
  mode: number | undefined;
}

function plansFor(
  project: Project,
  decision: Decision,
  texts: ReadonlyMap<string, Uint8Array>,
): Plan[] {
  return decision.files.flatMap(({ path }): Plan[] => {
    const file = project.files.get(path);
    if (!file) return [];
    const text = texts.get(path);
    const mode = file.marks.find(({ undo }) => undo === decision.id)?.mode?.[1];
    return [{ file, view: project.view(file, text), inBuffer: text !== undefined, mode }];
  });
}
