import type { RecordedScope, RecordOf } from "../journal/record";
import { hashOfLines } from "../state/contents";
import { type Entry, entryOf, originOf } from "../state/entry";
import type { Project } from "../state/project";
import { scopeOf } from "../state/scope";
import type { Selection } from "../weave/decision";
import type { Scope } from "../weave/row";
import { type Chosen, selectionOf } from "./selection";

/** A file of a request; `text` is what a buffer holds, else the disk counts. */
export interface Target extends Chosen {
  /** Relative to the root. */
  path: string;
  text?: Uint8Array | undefined;
}

/** What became of a file of a request, with a sentence for the user where it is nothing. */
export interface Outcome {
  path: string;
  problem?: string;
}

export interface Kept {
  /** Undefined if nothing was kept. */
  decision: string | undefined;
  files: Outcome[];
}

type KeptFile = RecordOf<"keep">["files"][number];

/** Keeps what was chosen, as one decision. Throws the system's error where it cannot be recorded. */
export function keep(
  project: Project,
  targets: readonly Target[],
  recorded?: RecordedScope,
  why: RecordOf<"keep">["why"] = "user",
): Kept {
  const scope = scopeOf(recorded);
  const files: KeptFile[] = [];
  const outcomes = targets.map((target): Outcome => {
    const found = find(project, target, scope);
    if ("problem" in found) return { path: target.path, problem: found.problem };
    files.push(...found.files.map((entry) => keptFile(project, entry, found.what, scope)));
    return { path: target.path };
  });
  if (files.length === 0) return { decision: undefined, files: outcomes };
  const record = { type: "keep", why, files, ...(recorded && { scope: recorded }) } as const;
  return { decision: project.append(record).id, files: outcomes };
}

function keptFile(project: Project, entry: Entry, what: Selection, scope: Scope): KeptFile {
  const { file, view } = entry;
  return {
    path: file.path,
    text: view ? project.contents.put(view.lines) : { withheld: "unknown" },
    ...(view && { base: hashOfLines(view.weave.base(scope)) }),
    keep: what as KeptFile["keep"],
  };
}

/** Everything of a request's file that is to be decided; a renamed one is two files. */
export interface Found {
  entry: Entry;
  files: Entry[];
  what: Selection;
}

export function find(
  project: Project,
  target: Target,
  scope: Scope,
): Found | { problem: string; changed?: boolean } {
  const file = project.files.get(target.path);
  const entry = file && entryOf(project, file, scope, target.text);
  if (!file || !entry) {
    const problem = file && project.problem(file);
    return { problem: `${target.path} ${problem ?? "has nothing to review there"}` };
  }
  const what = selectionOf(entry, target);
  if (what === undefined) {
    return { problem: `${target.path} has changed since it was shown`, changed: true };
  }
  const origin = what === "all" && entry.kind === "created" && movedFrom(project, entry, scope);
  return { entry, files: origin ? [entry, origin] : [entry], what };
}

/** The deleted file that a created one was moved from: both are decided together. */
function movedFrom(project: Project, entry: Entry, scope: Scope): Entry | undefined {
  const entries = [...project.files.values()].flatMap((file) => {
    return entryOf(project, file, scope) ?? [];
  });
  const deleted = entries.filter(({ kind }) => kind === "deleted");
  return originOf(entry, deleted, scope);
}
