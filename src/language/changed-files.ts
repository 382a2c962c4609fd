import { type ProjectFiles, statOf } from "./project-files";

export interface ChangedFile {
  path: string;
  change: "created" | "changed" | "deleted";
}

/** Before the first question nothing is known of earlier ones: what is younger counts as changed. */
const RECENT_MS = 60 * 60 * 1000;
/** Of a checkout that changed more, servers receive the first ones. */
const MOST_CHANGES = 2_000;
/** So long after a change was noticed, servers may not have read the file again. */
const FRESH_MS = 60_000;

interface Seen {
  mtimeMs: number;
  size: number;
}

/**
 * What was written in a project since the last look, whoever wrote it: Claude's tools, its shell, git.
 * By size and mtime of every file.
 */
export class ChangedFiles {
  readonly #project: ProjectFiles;
  #seen: Map<string, Seen> | undefined;
  /** When each change was noticed, by `Date.now()`. */
  readonly #noticed = new Map<string, number>();

  constructor(project: ProjectFiles) {
    this.#project = project;
  }

  /** Looks at every file: what changes from now on counts. */
  start(): void {
    this.#seen ??= this.#look();
  }

  /** What has changed since the last call. */
  take(): ChangedFile[] {
    const before = this.#seen;
    const now = this.#look();
    this.#seen = now;
    if (!now) return [];
    const since = Date.now() - RECENT_MS;
    const changes: ChangedFile[] = [];
    for (const [path, { mtimeMs, size }] of now) {
      const old = before?.get(path);
      if (old ? old.mtimeMs !== mtimeMs || old.size !== size : !before && mtimeMs > since) {
        changes.push({ path, change: "changed" });
      } else if (before && !old) {
        changes.push({ path, change: "created" });
      }
    }
    for (const path of before?.keys() ?? []) {
      if (!now.has(path)) changes.push({ path, change: "deleted" });
    }
    for (const { path } of changes) this.#noticed.set(path, Date.now());
    return changes.slice(0, MOST_CHANGES);
  }

  /** Whether the file was written a short time ago. */
  isFresh(path: string): boolean {
    return Date.now() - (this.#noticed.get(path) ?? 0) < FRESH_MS;
  }

  #look(): Map<string, Seen> | undefined {
    const list = this.#project.list();
    if (!list) return undefined;
    const seen = new Map<string, Seen>();
    for (const path of list) {
      const stats = statOf(path);
      if (stats) seen.set(path, { mtimeMs: stats.mtimeMs, size: stats.size });
    }
    return seen;
  }
}
