import { existsSync } from "node:fs";
import { join } from "node:path";
import { sessionsFolder } from "../claude/running-sessions";
import type { FolderSetup } from "../claude/settings-files";
import { keep } from "./decide/keep";
import { journalPath } from "./journal/append";
import { incompletePath, incompleteSince, noteIncomplete } from "./journal/folder";
import { filesOf, type Projects } from "./projects";
import { startComparison } from "./record/comparison-request";
import type { PathPatterns } from "./record/privacy";
import { Commits } from "./state/commits";
import { type Counts, countsOf, type Entry, withRenames } from "./state/entry";
import type { Comment, ReviewedProject } from "./state/reviewed-project";
import { endInterrupted } from "./state/sessions";
import { Unrecorded } from "./unrecorded";
import { linesOf } from "./weave/lines";
import { ALL } from "./weave/row";

/** The summary that Neovim gets without asking. */
export interface ReviewSummary {
  counts: Counts;
  /** A change could not be recorded since the user last kept the rest: the status line shows it. */
  incomplete: boolean;
  /** The settings of CLIs in each workspace folder: without hooks nothing is recorded. */
  setups: FolderSetup[];
  /** Sentences on what keeps the review from knowing all at once. */
  problems: string[];
  /** All of the workspace; paths are absolute. */
  comments: Comment[];
  /** Something of Claude's may be changing files. */
  runs: boolean;
}

/** How often the work tree is compared while an agent or command of Claude's outlives its turn. */
const OUTLIVING_MS = 10_000;

/** The projects of one Neovim, and what happens to them without a request of its user. */
export class WatchedProjects {
  readonly #watched = new Map<ReviewedProject, WatchedProject>();

  constructor(private readonly projects: Projects) {}

  of(project: ReviewedProject): WatchedProject {
    const watched = this.#watched.get(project) ?? new WatchedProject(project);
    this.#watched.set(project, watched);
    return watched;
  }

  /** Summarizes for Neovim what it learns without asking, and says when to look next. `ignore` is not counted. */
  async summary(ignore: PathPatterns) {
    const projects = this.projects.all().map((project) => this.of(project));
    for (const project of projects) project.endInterrupted();
    // git may take its time, in which other requests are answered.
    await Promise.all(projects.map((project) => project.checkCommits()));
    const all: Awaited<ReturnType<WatchedProject["summary"]>>[] = [];
    for (const project of projects) all.push(await project.summary(ignore));
    return {
      counts: countsOf(all.flatMap(({ counted }) => counted)),
      incomplete: all.some(({ incomplete }) => incomplete),
      problems: projects.map(({ unrecorded }) => unrecorded.sentence),
      comments: commentsOf(this.projects),
      /** Agents or commands outlive their turn; their changes and their end are not events. */
      waits: all.some(({ waits }) => waits),
      runs: all.some(({ runs }) => runs),
      /** Another one as soon as something was recorded. */
      version: all.map(({ version }) => version).join(),
      watched: all.flatMap(({ watched }) => watched),
    };
  }
}

class WatchedProject {
  #accepted: Accepted[] = [];
  readonly #commits: Commits;
  readonly unrecorded: Unrecorded;
  /** The pending changes, in the version from before git was asked. */
  #checked: { entries: Entry[]; version: number } | undefined;
  /** Pending changes have left the journal without a record. */
  #isLost = false;
  /** When, in ms since the epoch. */
  #compared = 0;

  constructor(private readonly project: ReviewedProject) {
    this.#commits = new Commits(project);
    this.unrecorded = new Unrecorded(project);
  }

  /** The user accepted this text in a diff: Claude's edit counts as kept. */
  accepted(path: string, text: Uint8Array): void {
    this.#accepted.push({ path, text: comparable(linesOf(text)), at: Date.now() });
  }

  /** Keeps those edits that have arrived. */
  #keepAccepted(): void {
    const { contents, edits } = this.project;
    this.#accepted = this.#accepted.filter((accepted) => {
      const edit = edits.findLast(({ change, path, after }) => {
        if (path !== accepted.path || change.at < accepted.at) return false;
        const lines = contents.lines(after);
        return lines !== undefined && comparable(lines) === accepted.text;
      });
      if (!edit) return Date.now() - accepted.at < MAX_MS;
      keep(this.project, [{ path: edit.path }], { change: edit.change.id }, "accepted");
      return false;
    });
  }

  /** Also compares now and then while something runs that outlives its turn: no hook says what it changes. */
  endInterrupted(): void {
    const now = Date.now();
    const { folder, sessions } = this.project;
    const isDue = sessions.anyOutlives() && now - this.#compared > OUTLIVING_MS;
    if (!endInterrupted(this.project) && !isDue) return;
    this.#compared = now;
    startComparison(this.project, "neovim", () => noteIncomplete(folder));
  }

  async checkCommits(): Promise<void> {
    this.#keepAccepted();
    this.#commits.takeBackClaudes();
    const entries = await this.#unreviewed();
    this.#noteLost();
    this.#checked = { entries, version: this.project.version };
    await this.#commits.check(entries);
  }

  /** Rewriting the journal keeps pending changes: if they are gone, something else has changed it. */
  #noteLost(): void {
    const { files, folder } = this.project;
    this.#isLost ||= this.#checked?.entries.some(({ file }) => !files.has(file.path)) ?? false;
    // Hooks create the folder again if it is gone as a whole.
    if (!this.#isLost || !existsSync(incompletePath(folder))) return;
    noteIncomplete(folder);
    this.#isLost = false;
  }

  async summary(ignore: PathPatterns) {
    const checked = this.#checked;
    const isCurrent = checked?.version === this.project.version;
    const entries = isCurrent ? checked.entries : await this.#unreviewed();
    const { folder, sessions, version } = this.project;
    return {
      counted: withRenames(entries, ALL).filter(({ file }) => {
        return !ignore.matches(this.project.path(file));
      }),
      incomplete: (this.unrecorded.sentence ?? incompleteSince(folder)) !== undefined,
      waits: sessions.anyOutlives(),
      runs: sessions.anyRuns(),
      version,
      watched: [
        ...[journalPath(folder), incompletePath(folder), ...this.#commits.watched],
        ...(sessions.anyWorks() ? [`${sessionsFolder()}/`] : []),
        ...entries.map(({ file }) => this.project.path(file)),
      ],
    };
  }

  #unreviewed(): Promise<Entry[]> {
    return filesOf(this.project, { scope: "unreviewed", texts: [] });
  }
}

/** Those of files outside of the workspace, too. */
export function commentsOf(projects: Projects): Comment[] {
  return projects.known().flatMap((project) =>
    project.comments.map((comment) => ({
      ...comment,
      path: join(project.root, comment.path),
    })),
  );
}

/** How long after the user's answer the CLI has written the file and run the hook. */
const MAX_MS = 60_000;

/** A text that the user accepted in a diff before it was written. */
interface Accepted {
  /** Relative to the root. */
  path: string;
  text: string;
  at: number;
}

/** The CLI restores CRLF where the file had it; in the diff there is none (design, openDiff). */
function comparable(lines: readonly string[]): string {
  return lines.join("").replaceAll("\r\n", "\n");
}
