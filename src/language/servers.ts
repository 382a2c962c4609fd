import type { MethodName, Params, Result } from "../editor/methods";
import { statOf } from "../lib/paths";
import type { FollowedNeovim } from "../locate/followed";
import { Privacy } from "../review/record/privacy";
import { ProjectFiles } from "./project-files";

/** The limit of a question, including all waits. */
const LIMIT_MS = 20_000;

export const RELATIONS = ["references", "implementations"] as const;
export type Relation = (typeof RELATIONS)[number];

/** The language servers of the followed Neovim. Calls reject with a Failure that says what to do instead. */
export class LanguageServers {
  readonly project: ProjectFiles;
  /** The changed files of the project, which we report to the servers before each question. */
  readonly changed: ChangedFiles;

  constructor(private readonly neovim: FollowedNeovim) {
    this.project = new ProjectFiles(neovim.places[0] ?? process.cwd());
    this.changed = new ChangedFiles(this.project);
  }

  /** Reports changed files to the servers, and then asks them. */
  async ask<M extends MethodName>(
    method: M,
    path: string | undefined,
    params: Omit<Params<M>, "file" | "named" | "changes">,
    signal?: AbortSignal,
  ): Promise<Result<M>> {
    // Throws Failure for an impossible path.
    const file = path === undefined ? {} : { file: this.neovim.candidates(path), named: path };
    const all = { ...params, ...file, changes: await this.changed.take() } as unknown as Params<M>;
    return this.neovim.runTask(method, all, LIMIT_MS, signal);
  }
}

interface ChangedFile {
  path: string;
  change: "created" | "changed" | "deleted";
}

/** Two writes within this many ms may leave the same time on a file. */
const SAME_TIME_MS = 20;
/** Without an earlier list to compare with, files written within this many ms count as changed. */
const RECENT_MS = 60 * 60 * 1000;
/** A large checkout changes more files. Servers then receive only the first ones. */
const MAX_CHANGES = 2_000;

/** By path. A version changes when the file is written, or replaced as by git and `sed -i`. */
type Versions = ReadonlyMap<string, string>;

/** Finds the files of a project that Claude's tools, its shell or git changed since the last call. */
class ChangedFiles {
  /** At the last call. Undefined if there are too many files. */
  #versions: Versions | undefined;

  constructor(private readonly project: ProjectFiles) {}

  /** Begins to count changes. */
  async start(): Promise<void> {
    const versions = await this.#look();
    this.#versions ??= versions;
  }

  /** Lists the files that changed since the last call, without private ones. */
  async take(): Promise<ChangedFile[]> {
    const now = await this.#look();
    const before = this.#versions;
    this.#versions = now;
    if (!now) return [];
    const privacy = new Privacy();
    const changes = (before ? differences(before, now) : recent(now)).slice(0, MAX_CHANGES);
    return changes.filter(({ path }) => !privacy.isPrivate(path));
  }

  async #look(): Promise<Versions | undefined> {
    const list = await this.project.list();
    if (!list) return undefined;
    const versions = new Map<string, string>();
    const now = Date.now();
    for (const path of list) {
      const stats = statOf(path);
      if (!stats) continue;
      const { mtimeMs, ctimeMs, size, ino } = stats;
      const isNew = Math.abs(now - ctimeMs) < SAME_TIME_MS;
      versions.set(path, `${mtimeMs}:${ctimeMs}:${size}:${ino}${isNew ? `:${now}` : ""}`);
    }
    return versions;
  }
}

function differences(before: Versions, now: Versions): ChangedFile[] {
  const changes: ChangedFile[] = [];
  for (const [path, version] of now) {
    const old = before.get(path);
    if (old !== version) changes.push({ path, change: old ? "changed" : "created" });
  }
  for (const path of before.keys()) if (!now.has(path)) changes.push({ path, change: "deleted" });
  return changes;
}

function recent(now: Versions): ChangedFile[] {
  const since = Date.now() - RECENT_MS;
  return [...now.keys()]
    .filter((path) => (statOf(path)?.mtimeMs ?? 0) > since)
    .map((path) => ({ path, change: "changed" }));
}
