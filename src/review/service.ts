import type * as v from "valibot";
import { EDITING_TOOLS } from "../claude/names";
import { hooksOff } from "../claude/settings-files";
import { Failure } from "../lib/errors";
import { gitFolder } from "../lib/git-folder";
import { own } from "../lib/json";
import { fileVersion, isBelow, realPath } from "../lib/paths";
import { join } from "../lib/platform";
import { type Answer, takes } from "../lib/requests";
import { isSame, questionAbout, replacedBy } from "./alike";
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
import { completionsOf, planOf, planVersion, turnScope } from "./turns";
import type { EndedCall } from "./unrecorded";
import type { Hunk } from "./weave/hunks";
import { bytesOf, isText } from "./weave/lines";
import { ALL } from "./weave/row";

/** The list has this many hunks, and then only the first hunk of each file. */
const MAX_HUNKS = 500;
const MAX_FILES = 2_000;

/** The comparison after a call starts within this time. */
const MOMENT_MS = 500;
/** How long most writes take, and how often to wait for one. */
const [WRITING_MS, MAX_READS] = [20, 50];

type Request<S extends v.GenericSchema> = v.InferOutput<S>;

export interface Listed {
  version: string;
  files: ShownFile[];
  counts: Counts;
  /** Sentences for the user about what the review does not know. */
  incomplete: string[];
  /** Sentences that Neovim shows once. */
  damage: string[];
  /** The number of files that the option `review.ignore` hides. */
  ignored: number;
  /** The number of hunks that only unsaved buffers undo, in projects with nothing else to review. */
  unwritten: number;
}

/** A file is only a path if it has not changed since Neovim's last answer. */
type Relisted = Omit<Listed, "files"> & { files: (ShownFile | string)[] };

/**
 * The review of one Neovim. requests.ts defines the parameters of its `methods`, shown.ts the results. Nothing here writes
 * to a buffer: Neovim gets edits for the text that it sent.
 */
export class ReviewService {
  readonly #projects = new Projects();
  readonly #watched = new WatchedProjects(this.#projects);
  readonly #text = new requests.LastText();
  /** The paths of loaded files whose text we have recorded. */
  readonly #remembered = new Set<string>();
  #committing: Promise<unknown> | undefined;
  #open: OpenCommit | undefined;
  #ignore = new PathPatterns([]);
  /** The last answer to `list`, with the versions of its files by path. */
  #listed = { version: "", files: new Map<string, string>() };

  /** `folders` are the real paths of the workspace folders. */
  follow(folders: readonly string[]): void {
    this.#projects.folders = folders;
  }

  readonly methods = {
    /** Relisted: the files to review in order of their paths; or `unchanged`, if Neovim's answer is current. */
    list: takes(requests.List, (request) => this.#list(request)),
    /** ShownFile with the lines of its hunks, or nothing. */
    file: takes(requests.File, (request) => this.#file(request)),
    /** `{ question, files }`: all hunks that change the same words as this one, or nothing if it is not there. */
    alike: takes(requests.Alike, (request) => this.#alike(request)),
    /** ShownDecision, like undo, back and done. */
    keep: takes(requests.Keep, (request) => this.#perProject(request, keep)),
    undo: takes(requests.Undo, (request) =>
      this.#perProject(request, (project, targets, scope) =>
        undo(project, targets, {
          scope,
          keepsBoth: request.keep_both,
          isWhole: request.plan !== undefined,
        }),
      ),
    ),
    /** `{ decision, type, paths, at }`: the decision that `back` would take back, or nothing. */
    last: () => this.#last(),
    back: takes(requests.Back, (request) => this.#back(request)),
    /** Words that complete the number of a turn, the last turn first. */
    turns: takes(requests.Turns, (request) => completionsOf(this.#projects.all(), request)),
    /** The scope of a turn, with its `name`, and whether its session `works` or `compares`. */
    turn: takes(requests.Turn, (request) => turnScope(this.#projects.all(), request)),
    /** Plan: the files of a whole scope, and the question before an undo of all. */
    plan: takes(requests.Plan, (request) => planOf(this.#projects.all(), request)),
    /** Keeps everything that is left, and stops reporting unrecorded changes. */
    done: takes(requests.Done, (request) => this.#done(request)),
    /** Committed, after the user has left git's message, which this executable opens in Neovim. */
    commit: takes(requests.Commit, (request) => this.#commit(request)),
    /** `{ text }`: Claude's message for the open commit. */
    message: takes(requests.Message, (request) => this.#message(request)),
    /** The path of git's message for the open commit, or nothing. */
    message_file: () => this.#open && join(gitFolder(this.#open.root) ?? "", "COMMIT_EDITMSG"),
    /** `{ hunk, owners }` at a row, including kept changes, or nothing. */
    why: takes(requests.Why, (request) => this.#why(request)),
    /** `{ text }`: the bytes of the base text; nothing for a file without pending changes. */
    base: takes(requests.Base, (request) => this.base(request)),
    /** Comment[]: applies changes and returns all comments of the workspace. */
    comments: takes(requests.Comments, (request) => this.#comments(request)),
    /** Nothing. The user accepted this text in a diff, and Claude writes it now. */
    accepted: takes(requests.Accepted, ({ path, text }) => {
      const { project, relativePath } = this.#projects.locate(path);
      this.#watched.of(project).accepted(relativePath, text);
    }),
    /** Nothing. Neovim wrote the file. */
    written: takes(requests.Written, (request) => this.#written(request)),
    /** Nothing. Hooks leave out these files from now on. */
    privacy: takes(requests.Privacy, (request) => keepPrivatePatterns(request)),
    /** Nothing. The list and the summary leave out these files from now on. */
    ignore: takes(requests.Ignore, ({ patterns }) => {
      this.#ignore = new PathPatterns(patterns);
    }),
  };

  /** Throws Failure, the system's error, and ValiError for parameters that break the contract. */
  async answer(name: string, given: unknown): Promise<unknown> {
    // Before the first await, so that texts are resolved in the order of the requests.
    const params = this.#text.resolve(given);
    await this.#projects.catchUp();
    return own<Answer>(this.methods, name)?.(params);
  }

  async #alike(request: Request<typeof requests.Alike>) {
    const { project, relativePath } = this.#projects.locate(request.path);
    const hunks: { path: string; hunk: Hunk }[] = [];
    for (const one of this.#projects.all()) {
      for (const entry of (await entriesOf(one, request)).filter(this.#listedIn(one, request))) {
        if (entry.kind !== "changed") continue;
        hunks.push(...entry.hunks.map((hunk) => ({ path: one.path(entry.file), hunk })));
      }
    }
    const path = join(project.root, relativePath);
    const chosen = hunks.find((one) => one.path === path && one.hunk.id === request.hunk);
    if (!chosen) return undefined;
    const replaced = replacedBy(chosen.hunk);
    const alike = hunks.filter(({ hunk }) => isSame(replacedBy(hunk), replaced));
    const files = [...Map.groupBy(alike, ({ path }) => path)].map(([path, all]) => {
      return { path, hunks: all.map(({ hunk }) => hunk.id) };
    });
    return { question: questionAbout(replaced, alike.length, files.length), files };
  }

  async #list(request: Request<typeof requests.List>): Promise<Relisted | { unchanged: true }> {
    const files: ShownFile[] = [];
    const entries: Entry[] = [];
    const incomplete: string[] = [];
    const damage: string[] = [];
    let [left, ignored, unwritten] = [MAX_HUNKS, 0, 0];
    for (const project of this.#projects.all()) {
      const isListed = this.#listedIn(project, request);
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
    const off = total.files === 0 && this.#projects.folders.map(hooksOff).find((why) => why);
    if (off)
      incomplete.push(`Claude's changes are not recorded, because its hooks are off: ${off}`);
    const versions = files.map((file) => file.version);
    const version = versionOf([versions, total, incomplete, damage, ignored, unwritten]);
    if (version === request.known) return { unchanged: true };
    const known = request.known === this.#listed.version ? this.#listed.files : undefined;
    this.#listed = { version, files: new Map(files.map((file) => [file.path, file.version])) };
    const isKnown = (file: ShownFile) => known?.get(file.path) === file.version;
    const changed = files.map((file) => (isKnown(file) ? file.path : file));
    return { version, files: changed, counts: total, incomplete, damage, ignored, unwritten };
  }

  /** Returns whether the list has an entry of a project: an ignored one only if the request names its file or folder. */
  #listedIn(project: ReviewedProject, { paths = [] }: Request<typeof requests.Done>) {
    const wanted = paths.map((path) => realPath(path)).filter((path) => this.#ignore.matches(path));
    return ({ file }: Entry) => {
      const path = project.path(file);
      return !this.#ignore.matches(path) || wanted.some((folder) => isBelow(path, folder));
    };
  }

  /** The CLI's transcript has this call. By now hooks have recorded it, or never will. Throws the system's error. */
  async ended(folder: string, call: EndedCall): Promise<void> {
    await this.#projects.catchUp();
    const project = this.#projects.around(folder);
    const knows = ({ sessions }: ReviewedProject) => sessions.knows(call.session, call.use);
    if (project && !this.#projects.known().some(knows))
      await this.#watched
        .of(project)
        .unrecorded.take({ ...call, off: call.off ?? hooksOff(folder) });
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

  /** Searches only the workspace, because Neovim does not show files elsewhere. */
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
        // For a renamed file, `keep` also decides about the earlier path.
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
    if (!this.#open) throw new Failure("no commit message is open: :Claude commit opens one");
    return { text: await messageFor(this.#open, request) };
  }

  /** Resolves when the open commit is made or aborted. */
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
   * Records Neovim's texts while Claude's commands may run, to separate them from the commands' texts. Also records a written
   * undo, because its lines are the user's from then on.
   */
  async #written({ path, over, version }: Request<typeof requests.Written>): Promise<undefined> {
    const { project, relativePath } = this.#projects.locate(path);
    const isNeeded = () => {
      const isSettled = project.files.get(relativePath)?.isSettled ?? true;
      return !isSettled || project.sessions.anyRuns();
    };
    if (!isNeeded() || new Privacy().isPrivate(path)) return;
    let content = project.onDisk(relativePath);
    // A program may just have truncated the file to write it. We must not record that as a deletion of all lines.
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
   * Records loaded files while Claude works: outside a git repository, nothing else has the text that one of Claude's
   * commands may change. If it is too early, returns the ms after which to call again.
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

  /** Returns a file that we have not recorded yet. Afterwards the hooks' comparisons know it. */
  #newIn(project: ReviewedProject, path: string): { path: string; content: Content }[] {
    const relativePath = project.relativePath(path);
    const isKnown = this.#remembered.has(path) || project.files.has(relativePath);
    if (!isBelow(path, project.root) || isKnown) return [];
    this.#remembered.add(path);
    const content = new Privacy().isPrivate(path) ? undefined : project.onDisk(relativePath);
    return content ? [{ path: relativePath, content }] : [];
  }

  /** Decides in each project, because a decision belongs to one project. */
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
    for (const [project, chosen] of targets) {
      const decided = await project.decide(async () => {
        const isCurrent = !request.plan || (await isPlanned(project, request));
        if (!isCurrent) return { decision: undefined, files: [], changed: true };
        return decide(project, chosen, recordedScope(project, request));
      });
      results.push(shownDecision(project, decided));
    }
    return joined(results);
  }
}

/** Whether a plan with one of these versions would be made again. */
async function isPlanned(project: ReviewedProject, request: Request<typeof requests.Keep>) {
  const { version } = project;
  const listing = { ...request, texts: request.files };
  const now = planVersion(project, listing, await entriesOf(project, listing));
  return project.version === version && request.plan?.includes(now);
}

function joined(results: readonly ShownDecision[]): ShownDecision {
  const decision = results.findLast((result) => result.decision !== undefined)?.decision;
  return {
    ...(decision !== undefined && { decision }),
    ...(results.some(({ changed }) => changed) && { changed: true }),
    files: results.flatMap(({ files }) => files),
  };
}

/** Puts files that an editing tool changed before those of commands, which may be many. */
function editedFirst(entries: Entry[]): Entry[] {
  const isEdited = ({ owners }: Entry) => owners.some(({ tool }) => EDITING_TOOLS.includes(tool));
  return [...entries.filter(isEdited), ...entries.filter((entry) => !isEdited(entry))];
}
