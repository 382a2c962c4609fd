import { join } from "node:path";
import { sessionsFolder } from "../claude/running-sessions";
import { AcceptedTexts } from "./decide/accepted";
import { journalPath } from "./journal/append";
import { incompletePath, incompleteSince, noteIncomplete } from "./journal/folder";
import { filesOf } from "./listing";
import type { Projects } from "./projects";
import { startComparison } from "./record/comparison-request";
import type { Comment } from "./state/comments";
import { Commits } from "./state/commits";
import { type Counts, countsOf, type Entry, sum, withRenames } from "./state/entry";
import type { ReviewedProject } from "./state/reviewed-project";
import { endInterrupted } from "./state/sessions";
import { ALL } from "./weave/row";

/** What Neovim learns without asking. */
export interface ReviewSummary {
  counts: Counts;
  /** A change could not be recorded since the user last kept the rest: the status line shows it. */
  incomplete: boolean;
  /** All of the workspace; paths are absolute. */
  comments: ShownComment[];
  /** Undos that were queued and whose turn has ended: Neovim asks for them with their texts. */
  due: { decision: string; paths: string[] }[];
  /** Something of Claude's may be changing files. */
  runs: boolean;
}

/** A summary, and when to look for the next one. */
export interface WatchedSummary extends ReviewSummary {
  /** Other undos wait for the end of their turn. */
  waits: boolean;
  /** Another one as soon as something was recorded. */
  version: string;
  watched: string[];
}

export type ShownComment = Omit<Comment, "isSent"> & { is_sent: boolean };

/** The projects of one Neovim, and what happens to them without a request of its user. */
export class WatchedProjects {
  readonly #projects: Projects;
  readonly #accepted = new Map<ReviewedProject, AcceptedTexts>();
  readonly #commits = new Map<ReviewedProject, Commits>();
  /** Queued undos that could not be carried out, each with the version of its project then. */
  readonly #failed = new Map<string, number>();

  constructor(projects: Projects) {
    this.#projects = projects;
  }

  /** What Neovim learns without asking, and the paths by whose change it may be another. */
  async summary(): Promise<WatchedSummary> {
    const counts: Counts[] = [];
    const watched: string[] = [];
    const due: ReviewSummary["due"] = [];
    const versions: number[] = [];
    let waits = false;
    const projects = this.#projects.all();
    for (const project of projects) {
      if (!endInterrupted(project)) continue;
      startComparison(project, "neovim", () => noteIncomplete(project.folder));
    }
    // git may take its time, in which other requests are answered.
    const checked = await Promise.all(projects.map((project) => this.#checkCommits(project)));
    for (const [i, project] of projects.entries()) {
      const commits = this.#commitsOf(project);
      const before = checked[i];
      const isCurrent = before?.version === project.version;
      const entries = isCurrent ? before.entries : await this.#unreviewed(project);
      counts.push(countsOf(withRenames(entries, ALL)));
      const queued = this.#queuedIn(project);
      due.push(...queued.due);
      waits ||= queued.waits;
      versions.push(project.version);
      watched.push(journalPath(project.folder), incompletePath(project.folder), ...commits.watched);
      if (project.sessions.anyWorks()) watched.push(`${sessionsFolder()}/`);
      watched.push(...entries.map(({ file }) => project.path(file)));
    }
    const comments = commentsOf(this.#projects);
    const incomplete = projects.some(({ folder }) => incompleteSince(folder) !== undefined);
    const runs = projects.some((project) => project.sessions.anyRuns());
    return {
      counts: sum(counts),
      incomplete,
      comments,
      due,
      waits,
      runs,
      version: versions.join(),
      watched,
    };
  }

  /** The user accepted this text in a diff: Claude writes it now. */
  accepted(project: ReviewedProject, relativePath: string, text: Uint8Array): void {
    const accepted = this.#accepted.get(project) ?? new AcceptedTexts(project);
    this.#accepted.set(project, accepted);
    accepted.add(relativePath, text);
  }

  /** A queued undo could not be carried out: it is due again when something was recorded. */
  failed(project: ReviewedProject, decision: string): void {
    this.#failed.set(decision, project.version);
  }

  /** The undos that were queued: those whose turn has ended, and whether there are others. */
  #queuedIn(project: ReviewedProject): Pick<WatchedSummary, "due" | "waits"> {
    const queued = project.decisions.filter((decision) => decision.type === "queue");
    const ended = queued.filter(({ session }) => !project.isWorking(session));
    const due = ended.filter(({ id }) => this.#failed.get(id) !== project.version);
    return {
      due: due.map(({ id, files }) => ({
        decision: id,
        paths: files.map(({ path }) => join(project.root, path)),
      })),
      waits: ended.length < queued.length,
    };
  }

  /** The files that wait for the user, in the version in which they did before git was asked. */
  async #checkCommits(project: ReviewedProject): Promise<{ entries: Entry[]; version: number }> {
    this.#accepted.get(project)?.keep();
    const entries = await this.#unreviewed(project);
    const { version } = project;
    await this.#commitsOf(project).check(entries);
    return { entries, version };
  }

  #unreviewed(project: ReviewedProject): Promise<Entry[]> {
    return filesOf(project, { scope: "unreviewed", texts: [] });
  }

  #commitsOf(project: ReviewedProject): Commits {
    const commits = this.#commits.get(project) ?? new Commits(project);
    this.#commits.set(project, commits);
    return commits;
  }
}

/** Those of files outside of the workspace, too. */
export function commentsOf(projects: Projects): ShownComment[] {
  return projects.known().flatMap((project) =>
    project.comments.all.map(({ isSent, ...comment }) => ({
      ...comment,
      path: join(project.root, comment.path),
      is_sent: isSent,
    })),
  );
}
