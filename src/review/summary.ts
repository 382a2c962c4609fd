import { existsSync } from "node:fs";
import { sessionStatus, sessionsFolder } from "../claude/running-sessions";
import type { FolderSetup } from "../claude/settings-files";
import { join } from "../lib/platform";
import { keep } from "./decide/keep";
import { journalPath } from "./journal/append";
import { incompletePath, incompleteSince, noteIncomplete } from "./journal/folder";
import { filesOf, type Projects } from "./projects";
import { startComparison } from "./record/comparison-request";
import type { PathPatterns } from "./record/privacy";
import { Commits } from "./state/commits";
import { type Counts, countsOf, type Entry, entryOf, withRenames } from "./state/entry";
import type { Comment, ReviewedProject } from "./state/reviewed-project";
import { endInterrupted } from "./state/sessions";
import type { TrackedFile } from "./state/tracked-file";
import { Unrecorded } from "./unrecorded";
import { linesOf } from "./weave/lines";
import { ALL } from "./weave/row";

/** The summary that we send to Neovim without a request. */
export interface ReviewSummary {
  counts: Counts;
  /** Whether a change could not be recorded since the last `done`. The status line shows it. */
  incomplete: boolean;
  /** The CLI's settings in each workspace folder. Without hooks, nothing is recorded. */
  setups: FolderSetup[];
  /** Sentences for the user about why the review is incomplete or late. */
  problems: string[];
  /** All comments of the workspace, with absolute paths. */
  comments: Comment[];
  /** Whether Claude, or a process that it started, may change files now. */
  runs: boolean;
  overlaps: Overlap[];
}

/** A session is about to edit a file in which a change by other running sessions waits for the user. */
interface Overlap {
  path: string;
  session: string;
  others: string[];
}

/** How often to compare the work tree while an agent or command outlives its turn. */
const OUTLIVING_MS = 10_000;

/** Does the work in the projects of one Neovim that needs no request. */
export class WatchedProjects {
  readonly #watched = new Map<ReviewedProject, WatchedProject>();

  constructor(private readonly projects: Projects) {}

  of(project: ReviewedProject): WatchedProject {
    const watched = this.#watched.get(project) ?? new WatchedProject(project);
    this.#watched.set(project, watched);
    return watched;
  }

  /** Returns the data of a summary, without the files that `ignore` matches, and the paths to watch. */
  async summary(ignore: PathPatterns) {
    const projects = this.projects.all().map((project) => this.of(project));
    for (const project of projects) project.endInterrupted();
    // git may be slow. We answer other requests in the meantime.
    await Promise.all(projects.map((project) => project.checkCommits()));
    const all: Awaited<ReturnType<WatchedProject["summary"]>>[] = [];
    for (const project of projects) all.push(await project.summary(ignore));
    return {
      counts: countsOf(all.flatMap(({ counted }) => counted)),
      incomplete: all.some(({ incomplete }) => incomplete),
      problems: projects.map(({ unrecorded }) => unrecorded.sentence),
      comments: commentsOf(this.projects),
      /** Whether agents or commands outlive their turn. Their changes and their end cause no events. */
      waits: all.some(({ waits }) => waits),
      runs: all.some(({ runs }) => runs),
      overlaps: projects.flatMap((project) => project.takeOverlaps()),
      /** Changes with each record. */
      version: all.map(({ version }) => version).join(),
      watched: all.flatMap(({ watched }) => watched),
    };
  }
}

class WatchedProject {
  /** Texts that the user accepted in a diff, and that Claude still has to write, by path relative to the root. */
  #accepted: { path: string; text: string; at: number }[] = [];
  readonly #commits: Commits;
  readonly unrecorded: Unrecorded;
  /** The pending changes at the last check of commits. */
  #checked: { entries: Entry[]; version: number } | undefined;
  /** Whether pending changes have disappeared from the journal. */
  #isLost = false;
  /** The sessions whose overlaps were reported, by path relative to the root. */
  readonly #overlapping = new Map<string, Set<string>>();
  /** When we last started a comparison, in ms since the epoch. */
  #compared = 0;

  constructor(private readonly project: ReviewedProject) {
    this.#commits = new Commits(project);
    this.unrecorded = new Unrecorded(project);
  }

  /** The user accepted this text in a diff, so Claude's edit counts as kept. */
  accepted(path: string, text: Uint8Array): void {
    this.#accepted.push({ path, text: comparable(linesOf(text)), at: Date.now() });
  }

  /** Keeps the accepted edits that hooks have recorded. */
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

  /** Also starts comparisons while agents or commands outlive their turn, because no hook reports their changes. */
  endInterrupted(): void {
    const now = Date.now();
    const { folder, sessions } = this.project;
    const isDue = sessions.anyOutlives() && now - this.#compared > OUTLIVING_MS;
    if (!endInterrupted(this.project) && !isDue) return;
    this.#compared = now;
    startComparison(this.project, () => noteIncomplete(folder));
  }

  async checkCommits(): Promise<void> {
    this.#keepAccepted();
    this.#commits.takeBackClaudes();
    const entries = await this.#unreviewed();
    this.#noteLost();
    this.#checked = { entries, version: this.project.version };
    await this.#commits.check(entries);
  }

  /** Rewriting the journal keeps pending changes. If one is gone, another program has changed the journal. */
  #noteLost(): void {
    const { files, folder } = this.project;
    this.#isLost ||= this.#checked?.entries.some(({ file }) => !files.has(file.path)) ?? false;
    // If the whole folder is gone, wait until hooks create it again.
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

  /** Returns each overlap once, until the file is reviewed. */
  takeOverlaps(): Overlap[] {
    const { announced, files } = this.project;
    return announced.splice(0).flatMap(({ session, path }) => {
      const file = files.get(path);
      const owners = (file && entryOf(this.project, file, ALL)?.owners) ?? [];
      const sessions = new Set(owners.map((owner) => owner.session));
      if (sessions.size === 0) this.#overlapping.delete(path);
      const known = this.#overlapping.get(path) ?? new Set();
      if (known.has(session)) return [];
      sessions.delete(session);
      const others = [...sessions].filter(isSessionRunning);
      if (others.length === 0) return [];
      this.#overlapping.set(path, known.add(session));
      return { path: this.project.path(file as TrackedFile), session, others };
    });
  }

  #unreviewed(): Promise<Entry[]> {
    return filesOf(this.project, { scope: "unreviewed", texts: [] });
  }
}

function isSessionRunning(id: string): boolean {
  return (sessionStatus(id)?.status ?? "ended") !== "ended";
}

/** All comments, including those on files outside the workspace. */
export function commentsOf(projects: Projects): Comment[] {
  return projects.known().flatMap(({ comments, root }) => {
    return comments.map((comment) => ({ ...comment, path: join(root, comment.path) }));
  });
}

/** The CLI writes the file and runs the hook within this time after the user's answer. */
const MAX_MS = 60_000;

/** The CLI restores a file's CRLF, which the diff does not have (design, openDiff). */
function comparable(lines: readonly string[]): string {
  return lines.join("").replaceAll("\r\n", "\n");
}
