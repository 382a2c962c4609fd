import { isBelow, namesIn, realPath, stateFolder } from "../lib/paths";
import { dirname, join } from "../lib/platform";
import { readPrivateFile } from "../lib/private-folder";
import { counted } from "../lib/visible";
import { incompleteSince, reviewRoot } from "./journal/folder";
import type { RecordedScope } from "./journal/record";
import type { Listing, Scoped } from "./requests";
import { type Entry, entryOf, withRenames } from "./state/entry";
import { ReviewedProject } from "./state/reviewed-project";
import { scopeOf } from "./state/tracked-file";

/** The projects of one Neovim. */
export class Projects {
  readonly #projects = new Map<string, ReviewedProject>();
  #reading: Promise<void> = Promise.resolve();
  /** The real paths of the workspace folders. */
  folders: readonly string[] = [];

  /** The workspace's projects: those around its folders, and recorded projects below them. */
  all(): ReviewedProject[] {
    return this.#roots().map((root) => this.#project(root));
  }

  /** Reads the additions to all journals, and yields to other events. Callers continue in the order of their calls. */
  catchUp(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readAll());
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    for (const root of new Set([...this.#roots(), ...this.#projects.keys()])) {
      // If a journal is unreadable, a caller that needs it gets the error later.
      await this.#known(root)
        .catchUp()
        .catch(() => {});
    }
  }

  #roots(): string[] {
    const roots = new Set(this.folders.map((folder) => reviewRoot(folder)));
    const review = join(stateFolder(), "review");
    for (const name of namesIn(review)) {
      const root = readPrivateFile(join(review, name, "root"));
      if (root && this.folders.some((folder) => isBelow(root, folder))) roots.add(root);
    }
    return [...roots];
  }

  #known(root: string): ReviewedProject {
    const project = this.#projects.get(root) ?? new ReviewedProject(root);
    this.#projects.set(root, project);
    return project;
  }

  #project(root: string): ReviewedProject {
    const project = this.#known(root);
    project.refresh();
    return project;
  }

  /** The innermost known project around a file, or else the file's own. */
  locate(path: string): { project: ReviewedProject; relativePath: string } {
    const real = withRealFolder(path);
    const roots = [...this.all().map(({ root }) => root), ...this.#projects.keys()];
    const inner = roots
      .filter((root) => isBelow(real, root))
      .sort((one, other) => other.length - one.length)[0];
    const project = this.#project(inner ?? reviewRoot(dirname(real)));
    return { project, relativePath: project.relativePath(real) };
  }

  /** The project in which the hooks of a CLI record that was started in `folder`; undefined outside the workspace. */
  around(folder: string): ReviewedProject | undefined {
    const root = reviewRoot(folder);
    const isHere = this.folders.some((one) => isBelow(root, one) || isBelow(one, root));
    return isHere ? this.#project(root) : undefined;
  }

  /** All projects, including those outside the workspace that a request was about. */
  known(): ReviewedProject[] {
    return [...new Set([...this.all(), ...this.#projects.values()])];
  }
}

function withRealFolder(path: string): string {
  return join(realPath(dirname(path)), path.slice(dirname(path).length));
}

/** After this much work, we yield to other events. */
const SLICE_MS = 10;

/** Lists the files to review in a project, in order of their paths. */
export async function entriesOf(project: ReviewedProject, request: Listing): Promise<Entry[]> {
  const scope = scopeOf(recordedScope(project, request));
  const entries = withRenames(await filesOf(project, request), scope);
  return entries.sort((a, b) => (a.file.path < b.file.path ? -1 : 1));
}

/** Lists both paths of a moved file, in any order. */
export async function filesOf(project: ReviewedProject, request: Listing): Promise<Entry[]> {
  const scope = scopeOf(recordedScope(project, request));
  const texts = textsIn(project, request.texts);
  const within = request.paths?.map((path) => realPath(path));
  const files = [...project.files.values()].filter(
    (file) => within?.some((path) => isBelow(project.path(file), path)) ?? true,
  );
  const entries: Entry[] = [];
  let since = performance.now();
  for (const file of files) {
    while (!file.catchUp(SLICE_MS)) await new Promise((resolve) => setImmediate(resolve));
    const entry = entryOf(project, file, scope, texts.get(file.path));
    if (entry) entries.push(entry);
    if (performance.now() - since < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
  return entries;
}

/** The scope of a request, in the form in which decisions record it. */
export function recordedScope(
  project: ReviewedProject,
  { scope, session, turn, project: counting, last }: Scoped,
): RecordedScope | undefined {
  if (scope === "unreviewed") return undefined;
  if (scope === "all") return { kept: true };
  const id = session ?? project.sessions.latest;
  if (id === undefined) return undefined;
  if (scope === "session") return { session: id };
  if (counting !== undefined && counting !== project.root) return { session: id, turns: [1, 0] };
  const turns = project.sessions.turns(id);
  const first = turn ?? turns.length;
  if (scope === "since") return { session: id, turns: [first, last ?? turns.length], kept: true };
  return { session: id, prompt: turns[first - 1]?.prompt, turns: [first, first] };
}

/** Sentences for the user about what the review does not know. */
export function incompleteOf(project: ReviewedProject, unrecorded?: string): string[] {
  const sentences = [...new Set(project.incomplete)];
  const lost = incompleteSince(project.folder);
  if (unrecorded !== undefined) sentences.push(unrecorded);
  else if (lost !== undefined) {
    // The "sv" locale formats as ISO 8601, in local time.
    const time = new Date(lost).toLocaleString("sv");
    const advice = "see the disk's space and hooks.log";
    sentences.push(
      `a change could not be recorded, or its record was removed (${time}): ${advice}`,
    );
  }
  return sentences;
}

/** A sentence for the user about damage of the journal. */
export function damageOf({ damaged, folder }: ReviewedProject): string[] {
  if (damaged === 0) return [];
  return [`${counted(damaged, "line")} of the journal could not be read: see ${folder}/set-aside`];
}

/** The texts of buffers, by path below the root. */
export function textsIn(
  project: ReviewedProject,
  texts: Listing["texts"],
): ReadonlyMap<string, Uint8Array> {
  const pairs = texts.flatMap(({ path, text }) => {
    return text ? [[project.relativePath(withRealFolder(path)), text] as const] : [];
  });
  return new Map(pairs);
}
