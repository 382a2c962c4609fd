import { statOf } from "../lib/paths";
import { join } from "../lib/platform";
import { keep } from "../review/decide/keep";
import { sameContent } from "../review/journal/blobs";
import { recordsOf } from "../review/journal/read";
import type { Content, FileChange } from "../review/journal/record";
import { RecordedProject } from "../review/record/recorded-project";
import { asLines } from "../review/state/contents";
import { type Entry, entryOf, modeOf } from "../review/state/entry";
import { ReviewedProject } from "../review/state/reviewed-project";
import { sameLines } from "../review/weave/lines";
import { ALL } from "../review/weave/row";
import {
  type Both,
  type Coming,
  isExecutable,
  isSame,
  type Side,
  sideOf,
  type Trees,
} from "./merge";

/** The journal here records changes that came home under this name. */
const TOOL = "worktree home";

/** The reviews of both work trees. Changes that came home wait for the user here, and no longer there. */
export class HomeJournal {
  readonly #here: RecordedProject;
  /** The last recorded change of each file that came home. */
  readonly #came: ReadonlyMap<string, FileChange>;

  private constructor(
    root: string,
    readonly project: ReviewedProject,
  ) {
    this.#here = new RecordedProject(root);
    const records = recordsOf(this.#here.folder, "change").filter(({ tool }) => tool === TOOL);
    this.#came = new Map(records.flatMap(({ files }) => files.map((one) => [one.path, one])));
  }

  /** Throws the system's error. */
  static async of({ root, path }: Trees): Promise<HomeJournal> {
    const project = new ReviewedProject(path);
    await project.catchUp();
    return new HomeJournal(root, project);
  }

  /**
   * The bytes that last came home, by path; undefined for an absent file. Ignores decisions from before the worktree was
   * made, because they were about a removed worktree at the same path.
   */
  homes(): Map<string, Uint8Array | undefined> {
    const { root, contents, decisions } = this.project;
    const madeAt = statOf(join(root, ".git"))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    const came = new Map<string, Uint8Array | undefined>();
    for (const one of decisions) {
      if (one.type !== "keep" || one.why !== "home" || one.at < madeAt) continue;
      for (const { path, text } of one.files) {
        const lines = contents.lines(text);
        if (lines) came.set(path, lines.length > 0 ? contents.bytes(lines) : undefined);
      }
    }
    return came;
  }

  /**
   * The worktree's file without Claude's pending changes. Undefined if unknown; then the whole file is pending. `began` is
   * the file at the branch point.
   */
  settled(
    path: string,
    theirs: Side | undefined,
    began: Side | undefined,
  ): { side: Side | undefined } | undefined {
    const file = this.project.files.get(path);
    const view = file && this.project.view(file);
    const present = theirs?.bytes ? asLines(theirs.bytes) : [];
    if (!view || !sameLines(view.lines, present)) return undefined;
    const entry = this.#waiting(path);
    if (!entry) return { side: theirs };
    const lines = view.weave.base(ALL);
    const bytes = lines.length > 0 ? this.project.contents.bytes(lines) : undefined;
    if (!bytes) return lines.length > 0 ? undefined : { side: undefined };
    const mode = modeOf(entry)?.before ?? (theirs ?? began)?.mode ?? 0o644;
    return { side: { bytes, mode, symlink: false } };
  }

  #waiting(path: string): Entry | undefined {
    const file = this.project.files.get(path);
    return file && entryOf(this.project, file, ALL);
  }

  /** Records coming changes in the journal here, before they are written. Throws the system's error. */
  record(coming: readonly Coming[]): void {
    const here = this.#here;
    const known = coming.filter((one) => !waits(one));
    const files = known.map(({ path, after }) => ({ path, content: contentOf(here, path, after) }));
    if (files.length > 0) here.append({ type: "written", files });
    const sessions = Map.groupBy(coming.filter(waits), ({ path }) => {
      return this.#waiting(path)?.owners.at(-1)?.session ?? this.project.root;
    });
    for (const [session, some] of sessions) {
      const files = some.map(({ path, reviewed, after }): FileChange => {
        const hasMode = reviewed && (!after || isExecutable(reviewed) !== isExecutable(after));
        return {
          path,
          before: contentOf(here, path, reviewed),
          after: contentOf(here, path, after),
          ...(hasMode && { mode: [reviewed.mode & 0o777, (after?.mode ?? 0) & 0o777] }),
        };
      });
      const head = here.head();
      here.append({ type: "change", session, tool: TOOL, source: "tool", files, head });
    }
  }

  /** Whether a file came home but still waits there, because an earlier call was interrupted. */
  cameBefore(path: string, ours: Side | undefined): boolean {
    const after = this.#waiting(path) && this.#came.get(path)?.after;
    return after !== undefined && sameContent(after, contentOf(this.#here, path, ours));
  }

  /** Keeps, there, files that came home and have not changed since. Throws what ReviewedProject.decide throws. */
  async settle(files: readonly Both[]): Promise<void> {
    const { project } = this;
    await project.decide(() => {
      const same = files.filter(({ path, theirs }) => {
        return isSame(sideOf(project.root, path, "there"), theirs);
      });
      const [waiting, others] = [true, false].map((does) =>
        same.filter(({ path }) => (this.#waiting(path) !== undefined) === does),
      ) as [typeof same, typeof same];
      const targets = waiting.map(({ path, theirs }) => ({ path, text: theirs?.bytes }));
      keep(project, targets, undefined, "home");
      // For `homes`, record the texts that came home.
      const there = new RecordedProject(project.root);
      const kept = others.map(({ path, theirs }) => {
        return { path, text: contentOf(there, path, theirs), keep: { old: [], new: [] } };
      });
      if (kept.length > 0) project.append({ type: "keep", why: "home", files: kept });
    });
  }
}

/** Whether the user must review changes of the file here. */
export function waits({ reviewed, after }: Coming): boolean {
  return !isSame(reviewed, after);
}

function contentOf(project: RecordedProject, path: string, side: Side | undefined): Content {
  if (project.privacy.isPrivate(join(project.root, path))) return { withheld: "private" };
  return side?.bytes ? project.blobs.put(side.bytes) : { absent: true };
}
