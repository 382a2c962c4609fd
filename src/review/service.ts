import { join } from "node:path";
import type * as v from "valibot";
import { EDITING_TOOLS } from "../claude/names";
import { hooksOff } from "../claude/settings-files";
import { Failure } from "../lib/errors";
import { gitFolder } from "../lib/git-folder";
import { own } from "../lib/json";
import { fileVersion, isBelow, realPath } from "../lib/paths";
import { type Answer, takes } from "../lib/requests";
import { type Committed, commitKept, messageFor, type OpenCommit } from "./commit/commit";
import { finishPending } from "./commit/follow";
import { lastDecision, takeBack } from "./decide/back";
import { keep, type Target } from "./decide/keep";
import { type Undone, undo } from "./decide/undo";
import { repositoryAround } from "./git/differing";
import { noteIncomplete } from "./journal/folder";
import type { Content, RecordedScope } from "./journal/record";
import { damageOf, entriesOf, incompleteOf, Projects, recordedScope, textsIn } from "./projects";
import { recordOverwritten } from "./record/known";
import { keepPrivatePatterns, PathPatterns, Privacy } from "./record/privacy";
import * as requests from "./requests";
import {
  type ShownDecision,
  type ShownFile,
  shownDecision,
  shownFile,
  shownHunk,
  shownOwner,
  versionOf,
} from "./shown";
import { asListed, type Counts, countsOf, type Entry, entryOf } from "./state/entry";
import type { Comment, ReviewedProject } from "./state/reviewed-project";
import { scopeOf } from "./state/tracked-file";
import { commentsOf, WatchedProjects } from "./summary";
import type { EndedCall } from "./unrecorded";
import { bytesOf, isText } from "./weave/lines";
import { ALL } from "./weave/row";

/** Lists this many hunks one by one, and the first of each further file. */
const MAX_HUNKS = 500;
const MAX_FILES = 2_000;

/** A call's comparison may still be about to run this long after it. */
const MOMENT_MS = 500;
/** How long most writes take, and how often to read until then. */
const [WRITING_MS, MAX_READS] = [20, 50];

type Request<S extends v.GenericSchema> = v.InferOutput<S>;

export interface Listed {
  version: string;
  files: ShownFile[];
  counts: Counts;
  /** Sentences for the user: what the review does not know. */
  incomplete: string[];
  /** Sentences to be said once. */
  damage: string[];
  /** Files that the option `review.ignore` leaves out of all this. */
  ignored: number;
  /** Changes of a project without any other that only unsaved text undoes. */
  unwritten: number;
}

/** As paths, the files that are the same in the answer that Neovim has. */
type Relisted = Omit<Listed, "files"> & { files: (ShownFile | string)[] };

/**
 * The review for one Neovim, by `methods`; requests.ts has what they take, shown.ts
 * what they give. Nothing here writes to a buffer: Neovim gets edits for the text that it sent.
 */
export class ReviewService {
  readonly #projects = new Projects();
  readonly #watched = new WatchedProjects(this.#projects);
  readonly #text = new requests.LastText();
  /** Paths of files that Neovim has loaded, and whose text was recorded. */
  readonly #remembered = new Set<string>();
  #committing: Promise<unknown> | undefined;
  #open: OpenCommit | undefined;
  #ignore = new PathPatterns([]);
  /** The last answer to `list`: the versions of its files by their paths. */
  #listed = { version: "", files: new Map<string, string>() };
  #folders: readonly string[] = [];

  /** `folders`: the workspace folders, real paths. */
  follow(folders: readonly string[]): void {
    this.#folders = folders;
    this.#projects.follow(folders);
  }

  /** The methods with their parameters and results. */
  readonly methods = {
    /** Listed: all there is to review, files in order of their paths, those that Neovim has by path; `unchanged`: it has all. */
    list: takes(requests.List, (request) => this.#list(request)),
    /** ShownFile with lines, or nothing: one file, also with unsaved text. */
    file: takes(requests.File, (request) => this.#file(request)),
    /** ShownDecision; so do undo, back and done. */
    keep: takes(requests.Keep, (request) => this.#perProject(request, keep)),
    undo: takes(requests.Undo, (request) =>
      this.#perProject(request, (project, targets, scope) =>
        undo(project, targets, { scope, keepsBoth: request.keep_both }),
      ),
    ),
    /** `{ decision, type, paths, at }` of what `back` would take back, or nothing. */
    last: () => this.#last(),
    back: takes(requests.Back, (request) => this.#back(request)),
    /** Keeps all that is left; stops reporting unrecorded changes. */
    done: takes(requests.Done, (request) => this.#done(request)),
    /** Committed: what was kept, once the user has left git's message, which this executable opens in Neovim. */
    commit: takes(requests.Commit, (request) => this.#commit(request)),
    /** `{ text }`: a message for the commit that is open, by Claude. */
    message: takes(requests.Message, (request) => this.#message(request)),
    /** The path of git's message for that commit, or nothing. */
    message_file: () => this.#open && join(gitFolder(this.#open.root) ?? "", "COMMIT_EDITMSG"),
    /** `{ hunk, owners }` at a row, what was kept included, or nothing. */
    why: takes(requests.Why, (request) => this.#why(request)),
    /** `{ text }`: the base text's bytes; nothing for a file without pending changes. */
    base: takes(requests.Base, (request) => this.base(request)),
    /** Comment[]: adds, changes, deletes some; gives all of the workspace. */
    comments: takes(requests.Comments, (request) => this.#comments(request)),
    /** Decides nothing: the user accepted this text in a diff, and Claude writes it now. */
    accepted: takes(requests.Accepted, ({ path, text }) => {
      const { project, relativePath } = this.#projects.locate(path);
      this.#watched.of(project).accepted(relativePath, text);
    }),
    /** Nothing: Neovim wrote the file. */
    written: takes(requests.Written, (request) => this.#written(request)),
    /** Nothing: which files hooks leave out from now on. */
    privacy: takes(requests.Privacy, (request) => keepPrivatePatterns(request)),
    /** Nothing: which files the list and the summary only count from now on. */
    ignore: takes(requests.Ignore, ({ patterns }) => {
      this.#ignore = new PathPatterns(patterns);
    }),
  };

  /** Throws Failure, ValiError for what is not in the contract, and the system's error. */
  async answer(name: string, given: unknown): Promise<unknown> {
    // In the order in which the texts came.
    const params = this.#text.resolve(given);
    await this.#projects.catchUp();
    return own<Answer>(this.methods, name)?.(params);
  }

  async #list(request: Request<typeof requests.List>): Promise<Relisted | { unchanged: true }> {
    const files: ShownFile[] = [];
    const entries: Entry[] = [];
    const incomplete: string[] = [];
    const damage: string[] = [];
    // An ignored file, or folder, is listed if it is named.
    const named = request.paths?.map((path) => realPath(path)) ?? [];
    const wanted = named.filter((path) => this.#ignore.matches(path));
    let [left, ignored, unwritten] = [MAX_HUNKS, 0, 0];
    for (const project of this.#projects.all()) {
      const isListed = ({ file }: Entry) => {
        const path = project.path(file);
        return !this.#ignore.matches(path) || wanted.some((folder) => isBelow(path, folder));
      };
      const { unrecorded } = this.#watched.of(project);
      const found = await entriesOf(project, request);
      const all = found.filter(isListed);
      ignored += found.length - all.length;
      if (all.length === 0 && request.texts.length > 0) {
        const onDisk = await entriesOf(project, { ...request, texts: [] });
        unwritten += countsOf(onDisk.filter(isListed)).hunks;
      }
      entries.push(...all);
      incomplete.push(...incompleteOf(project, unrecorded.sentence));
      damage.push(...damageOf(project));
      const shown = new Map<Entry, ShownFile>();
      for (const entry of editedFirst(all).slice(0, MAX_FILES - files.length)) {
        const count = entry.hunks.length <= left ? entry.hunks.length : 1;
        left -= count;
        shown.set(entry, shownFile(project, entry, count));
      }
      files.push(...all.flatMap((entry) => shown.get(entry) ?? []));
    }
    const total = countsOf(entries);
    if (files.length < total.files) {
      incomplete.push(
        `only ${files.length} of ${total.files} files are listed: decide about some of them, or name a folder (:Claude review src/)`,
      );
    }
    const off = total.files === 0 && this.#folders.map(hooksOff).find((why) => why);
    if (off) incomplete.push(`Claude's changes are not recorded, for its hooks are off: ${off}`);
    const versions = files.map((file) => file.version);
    const version = versionOf([versions, total, incomplete, damage, ignored, unwritten]);
    if (version === request.known) return { unchanged: true };
    const known = request.known === this.#listed.version ? this.#listed.files : undefined;
    this.#listed = { version, files: new Map(files.map((file) => [file.path, file.version])) };
    const isKnown = (file: ShownFile) => known?.get(file.path) === file.version;
    const changed = files.map((file) => (isKnown(file) ? file.path : file));
    return { version, files: changed, counts: total, incomplete, damage, ignored, unwritten };
  }

  /** The CLI's transcript has this call, and hooks have recorded it, or will not. Throws the system's error. */
  async ended(folder: string, call: EndedCall): Promise<void> {
    await this.#projects.catchUp();
    const project = this.#projects.around(folder);
    const knows = ({ sessions }: ReviewedProject) => sessions.knows(call.session, call.use);
    if (project && !this.#projects.known().some(knows))
      await this.#watched.of(project).unrecorded.take(call);
  }

  async summary() {
    await this.#projects.catchUp();
    let fails = false;
    for (const { folder } of this.#projects.all()) fails = (await finishPending(folder)) || fails;
    const summary = await this.#watched.summary(this.#ignore);
    return { ...summary, waits: summary.waits || fails };
  }

  #file(request: Request<typeof requests.File>): ShownFile | undefined {
    const { project, relativePath } = this.#projects.locate(request.path);
    const file = project.files.get(relativePath);
    const scope = scopeOf(recordedScope(project, request));
    const found = file && entryOf(project, file, scope, request.text);
    if (!found) return undefined;
    const entry = asListed(project, found, scope);
    const hunks = entry.hunks.map((hunk) => shownHunk(project, hunk, true));
    return { ...shownFile(project, entry), hunks };
  }

  /** Looks only in the workspace: files elsewhere are not shown here. */
  #last() {
    const found = this.#projects.all().flatMap((project) => {
      const decision = lastDecision(project);
      return decision ? [{ project, decision }] : [];
    });
    const newest = found.sort((a, b) => b.decision.at - a.decision.at)[0];
    if (!newest) return undefined;
    const { id, type, at, files } = newest.decision;
    const paths = files.map((file) => join(newest.project.root, file.path));
    return { decision: id, type, at, paths };
  }

  async #back(request: Request<typeof requests.Back>): Promise<ShownDecision> {
    const id = request.decision ?? this.#last()?.decision;
    for (const project of this.#projects.known()) {
      if (id === undefined || !project.decision(id)) continue;
      if (request.path !== undefined) {
        const path = project.relativePath(request.path);
        return { decision: project.append({ type: "back", decision: id, path }).id, files: [] };
      }
      const texts = textsIn(project, request.files);
      const taken = await project.decide(() => {
        const decision = project.decision(id);
        return decision && takeBack(project, decision, texts);
      });
      if (taken) return shownDecision(project, taken);
    }
    throw new Failure("there is no decision to take back");
  }

  #why({ path, text, row }: Request<typeof requests.Why>) {
    const { project, relativePath } = this.#projects.locate(path);
    const file = project.files.get(relativePath);
    const entry = file && entryOf(project, file, scopeOf({ kept: true }), text);
    const hunk = entry?.hunks.find(({ new: [first, count] }) =>
      count === 0 ? row === first || row === first + 1 : row >= first && row < first + count,
    );
    if (!entry || (!hunk && entry.kind === "changed")) return undefined;
    const owners = (hunk ?? entry).owners.map((owner) => shownOwner(project, owner));
    return { ...(hunk && { hunk: shownHunk(project, hunk, true) }), owners };
  }

  base(request: Request<typeof requests.Base>): { text: Uint8Array } | undefined {
    const { project, relativePath } = this.#projects.locate(request.path);
    const file = project.files.get(relativePath);
    const entry = file && entryOf(project, file, ALL);
    if (!entry?.view || entry.kind === "binary") return undefined;
    const lines = entry.view.weave.base(ALL);
    return isText(lines) ? { text: bytesOf(lines) } : undefined;
  }

  async #done(request: Request<typeof requests.Done>): Promise<ShownDecision> {
    const results: ShownDecision[] = [];
    for (const project of this.#projects.all()) {
      const kept = await project.decide(async () => {
        const texts = textsIn(project, request.texts);
        const entries = await entriesOf(project, request);
        // With a renamed file `keep` decides about the one that it was moved from.
        const targets = entries.map(
          ({ file: { path } }): Target => ({ path, text: texts.get(path) }),
        );
        return keep(project, targets, recordedScope(project, request), "done");
      });
      noteIncomplete(project.folder, new Date(0));
      this.#watched.of(project).unrecorded.done();
      results.push(shownDecision(project, kept));
    }
    return joined(results);
  }

  #commit({ path, draft, texts }: Request<typeof requests.Commit>): Promise<Committed> {
    const project =
      path === undefined ? this.#projects.all()[0] : this.#projects.locate(path).project;
    if (!project) throw new Failure("there is no workspace folder with a review");
    const { root } = project;
    const folder = path === undefined ? "" : repositoryAround(root, project.relativePath(path));
    if (this.#committing)
      throw new Failure("a commit is open already: write its message, or quit it");
    const editor = `'${process.execPath.replaceAll("'", "'\\''")}' edit --commit ${process.pid}`;
    const others = this.#projects.all();
    const onOpen = (open: OpenCommit) => {
      this.#open = open;
    };
    const request = { folder, draft, texts: textsIn(project, texts), others, onOpen };
    const made = commitKept(project, request, editor);
    this.#committing = made
      .catch(() => {})
      .finally(() => {
        this.#committing = this.#open = undefined;
      });
    return made;
  }

  async #message(request: Request<typeof requests.Message>): Promise<{ text: string }> {
    if (!this.#open) throw new Failure("no message of a commit is open: :Claude commit opens it");
    return { text: await messageFor(this.#open, request) };
  }

  /** Once a commit that was begun is made, or was aborted. */
  async committed(): Promise<void> {
    await this.#committing;
  }

  #comments({ changes }: Request<typeof requests.Comments>): Comment[] {
    for (const { path, ...comment } of changes) {
      const { project, relativePath } = this.#projects.locate(path);
      project.append({ type: "comment", ...comment, path: relativePath });
    }
    return commentsOf(this.#projects);
  }

  /**
   * While commands of Claude's may run, what Neovim writes is kept apart from what they write. Once an
   * undo is written, its lines are the user's.
   */
  async #written({ path, over, version }: Request<typeof requests.Written>): Promise<undefined> {
    const { project, relativePath } = this.#projects.locate(path);
    const isNeeded = () => {
      const isSettled = project.files.get(relativePath)?.isSettled ?? true;
      return !isSettled || project.sessions.anyRuns();
    };
    if (!isNeeded() || new Privacy().isPrivate(path)) return;
    let content = project.onDisk(relativePath);
    // A writer may have truncated it first: an empty file is not a deletion of all its lines.
    for (let reads = 1; reads < MAX_READS; reads++) {
      const now = fileVersion(path);
      if (now === (version ?? now)) break;
      version = now;
      await Bun.sleep(WRITING_MS);
      if (!isNeeded()) return;
      content = project.onDisk(relativePath);
    }
    if (!content) return;
    if (over) recordOverwritten(project.root, relativePath, over);
    project.append({ type: "written", files: [{ path: relativePath, content }] });
  }

  /**
   * Records the content of the files that Neovim has loaded while Claude works: outside a git repository nothing else
   * has the text that a command of Claude's is about to change. Returns the ms after which to call again if it could
   * not be done now.
   */
  remember(loadedFiles: () => readonly string[]): number | undefined {
    let again: number | undefined;
    for (const project of this.#projects.all()) {
      const { root, sessions } = project;
      if (!sessions.anyWorks() || gitFolder(root) !== undefined) continue;
      // The comparison still needs the texts from before the call.
      if (sessions.isInCall()) continue;
      if (sessions.wasInCall(Date.now() - MOMENT_MS)) {
        again = MOMENT_MS;
        continue;
      }
      const files = loadedFiles().flatMap((path) => this.#newIn(project, path));
      if (files.length > 0) project.append({ type: "written", files });
    }
    return again;
  }

  /** Once: from then on the hooks' comparisons know the file. */
  #newIn(project: ReviewedProject, path: string): { path: string; content: Content }[] {
    const relativePath = project.relativePath(path);
    const isKnown = this.#remembered.has(path) || project.files.has(relativePath);
    if (!isBelow(path, project.root) || isKnown) return [];
    this.#remembered.add(path);
    const content = new Privacy().isPrivate(path) ? undefined : project.onDisk(relativePath);
    return content ? [{ path: relativePath, content }] : [];
  }

  /** A decision belongs to one project. */
  async #perProject(
    request: Request<typeof requests.Keep>,
    decide: (
      project: ReviewedProject,
      targets: Target[],
      scope: RecordedScope | undefined,
    ) => Undone | Promise<Undone>,
  ): Promise<ShownDecision> {
    const targets = new Map<ReviewedProject, Target[]>();
    for (const file of request.files) {
      const { project, relativePath } = this.#projects.locate(file.path);
      targets.set(project, [...(targets.get(project) ?? []), { ...file, path: relativePath }]);
    }
    const results: ShownDecision[] = [];
    for (const [project, those] of targets) {
      const decided = await project.decide(() => {
        return decide(project, those, recordedScope(project, request));
      });
      results.push(shownDecision(project, decided));
    }
    return joined(results);
  }
}

function joined(results: readonly ShownDecision[]): ShownDecision {
  const decision = results.findLast((result) => result.decision !== undefined)?.decision;
  return {
    ...(decision !== undefined && { decision }),
    files: results.flatMap(({ files }) => files),
  };
}

/** Puts files that a tool such as Edit changed before those of commands, which may be many. */
function editedFirst(entries: Entry[]): Entry[] {
  const isEdited = ({ owners }: Entry) => owners.some(({ tool }) => EDITING_TOOLS.includes(tool));
  return [...entries.filter(isEdited), ...entries.filter((entry) => !isEdited(entry))];
}
