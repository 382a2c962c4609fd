import { cutText, visibleName } from "../lib/visible";
import { reviewFolder, reviewRoot } from "./journal/folder";
import { DAY_MS, MAX_DAYS } from "./journal/prune";
import { recordsOf } from "./journal/read";
import { Privacy } from "./record/privacy";
import { ReviewedProject } from "./state/reviewed-project";
import type { TrackedFile } from "./state/tracked-file";
import { FILE, isOpaque } from "./weave/lines";
import { isClaude, type Mark, type Row } from "./weave/row";

/** The CLI replaces a context of more than 10,000 characters with a preview (measured with 2.1.330). */
const MAX_CHARACTERS = 9_500;
/** In characters. */
const MAX_NAMES = 2_000;
const REST = "\n\nAnd, with too many lines to show: ";

const HEAD =
  "The user has reviewed your edits and undone some. Do not make these again unless the user asks " +
  'for it. Below, "-" is a line that you had added and that is gone, "+" one that you had removed ' +
  "and that is back; the numbers are those of the lines now.";

/** The undos of a session's edits in one file. */
interface UndoneFile {
  path: string;
  text: string;
  /** The `undo` records whose effect is on the disk. */
  undos: string[];
  /** The other `undo` records: the effect is in an unsaved buffer, or the user took it back. */
  missing: string[];
}

/**
 * Returns a text for Claude, to go with the user's prompt, about the edits of the session that the user has undone.
 * Reports each edit once; undefined if there are none. Throws the system's error.
 */
export function takeUndoneEdits(projectFolder: string, session: string): string | undefined {
  const root = reviewRoot(projectFolder);
  const waiting = unreported(reviewFolder(root), session);
  if (waiting.size === 0) return undefined;
  const project = new ReviewedProject(root);
  project.refresh();
  const files = [...project.files.values()].map((file) =>
    undoneIn(project, file, session, waiting),
  );
  const done = new Set(files.flatMap(({ undos }) => undos));
  const missing = new Set(files.flatMap((file) => file.missing));
  const ids = [...waiting].filter((id) => done.has(id) || !missing.has(id));
  const shown = files.filter(({ text }) => text !== "");
  if (ids.length === 0 || !take(project, session, ids) || shown.length === 0) return undefined;
  return message(shown);
}

/** Records the report. Returns false if the hook of another installation has reported them for the same prompt. */
function take(project: ReviewedProject, session: string, ids: string[]): boolean {
  const { id } = project.append({ type: "reported", session, undo: ids });
  const records = recordsOf(project.folder, "reported").filter((one) => one.session === session);
  return records.find(({ undo }) => undo.includes(ids[0] as string))?.id === id;
}

/** The ids of `undo` records that the session does not know about. Most journals have none. */
function unreported(folder: string, session: string): ReadonlySet<string> {
  // Pruning may have removed earlier reports.
  const oldest = Date.now() - MAX_DAYS * DAY_MS;
  const all = [...recordsOf(folder, "undo"), ...recordsOf(folder, "restore")];
  const undos = all.filter(({ at }) => at > oldest);
  const ids = new Set(undos.map(({ id }) => id));
  if (ids.size === 0) return ids;
  for (const report of recordsOf(folder, "reported")) {
    if (report.session === session) for (const id of report.undo) ids.delete(id);
  }
  return ids;
}

function undoneIn(
  project: ReviewedProject,
  file: TrackedFile,
  session: string,
  waiting: ReadonlySet<string>,
): UndoneFile {
  const isUndone = (mark: Mark | undefined): mark is Mark & { undo: string } =>
    mark?.undo !== undefined &&
    waiting.has(mark.undo) &&
    isClaude(mark.by) &&
    mark.by.session === session;
  const undos: string[] = [];
  const missing: string[] = [];
  const notes = file.marks.flatMap((mark) => {
    if (!isUndone(mark)) return [];
    undos.push(mark.undo);
    // For a file that is back, the text says that already.
    const isChanged = mark.kind === "mode" && mark.mode?.[1] !== 0;
    return isChanged ? ["its permissions are as before"] : [];
  });
  const rows = new ShownRows();
  for (const row of project.view(file)?.weave.rows ?? []) {
    const { inserted, deleted, revivals, present } = row;
    const mark = [inserted, deleted, revivals?.at(-1)?.inserted].find(isUndone);
    if (mark) (present === (mark === deleted) ? undos : missing).push(mark.undo);
    rows.add(row, mark !== undefined && present === (mark === deleted));
  }
  const isPrivate = undos.length > 0 && new Privacy().isPrivate(project.path(file));
  const text = isPrivate ? "" : [...notes, ...rows.text].join("\n");
  return { path: file.path, text, undos, missing };
}

/** Shows undone rows as a diff, adjacent rows under one line number. */
class ShownRows {
  readonly #groups: string[] = [];
  #file: string | undefined;
  #number = 0;
  #isOpen = false;

  add({ line, present }: Row, isUndone: boolean): void {
    if (line === FILE) {
      if (isUndone) this.#file = present ? "the file is back" : "the file is gone";
      return;
    }
    if (present) this.#number++;
    if (!isUndone) {
      this.#isOpen = this.#isOpen && !present;
      return;
    }
    if (!this.#isOpen) this.#groups.push(`line ${Math.max(this.#number + (present ? 0 : 1), 1)}:`);
    this.#isOpen = true;
    this.#groups.push(`${present ? "+" : "-"}${shownLine(line)}`);
  }

  /** For a created or deleted file, leaves out its lines. */
  get text(): readonly string[] {
    return this.#file === undefined ? this.#groups : [this.#file];
  }
}

function shownLine(line: string): string {
  if (isOpaque(line)) return "(binary content)";
  return Buffer.from(line, "latin1")
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** Shows the texts of as many files as fit, and the names of the others. */
function message(files: readonly UndoneFile[]): string {
  const parts = files.map(({ path, text }) => `\n\n${visibleName(path)}\n${text}`);
  const names = files.map(({ path }) => visibleName(path)).join(", ");
  let left = MAX_CHARACTERS - HEAD.length - Math.min(names.length, MAX_NAMES) - REST.length;
  const fits = parts.map((part) => {
    if (part.length > left) return false;
    left -= part.length;
    return true;
  });
  const shown = HEAD + parts.filter((_, i) => fits[i]).join("");
  const rest = files.filter((_, i) => !fits[i]).map(({ path }) => visibleName(path));
  return rest.length > 0 ? `${shown}${REST}${cutText(rest.join(", "), MAX_NAMES)}` : shown;
}
