import { statOf } from "../lib/paths";
import type { FileVersion, ProjectFiles } from "./project-files";

interface ChangedFile {
  path: string;
  change: "created" | "changed" | "deleted";
}

/** Before the first question nothing is known of earlier ones: what is younger counts as changed. */
const RECENT_MS = 60 * 60 * 1000;
/** Of a checkout that changed more, servers receive the first ones. */
const MAX_CHANGES = 2_000;

/** What was written in a project since the last look, whoever wrote it: Claude's tools, its shell, git. */
export class ChangedFiles {
  /** All files at the last look. Undefined where there are too many. */
  #versions: ReadonlyMap<string, FileVersion> | undefined;

  constructor(private readonly project: ProjectFiles) {}

  /** Looks at every file: what changes from now on counts. */
  async start(): Promise<void> {
    const versions = await this.project.versions();
    this.#versions ??= versions;
  }

  /** What has changed since the last call. */
  async take(): Promise<ChangedFile[]> {
    const now = await this.project.versions();
    const before = this.#versions;
    this.#versions = now;
    if (!now) return [];
    const changes = before ? differences(before, now) : recent(now);
    return changes.slice(0, MAX_CHANGES);
  }
}

function differences(
  before: ReadonlyMap<string, FileVersion>,
  now: ReadonlyMap<string, FileVersion>,
): ChangedFile[] {
  const changes: ChangedFile[] = [];
  for (const [path, version] of now) {
    const old = before.get(path);
    if (old !== version) changes.push({ path, change: old ? "changed" : "created" });
  }
  for (const path of before.keys()) if (!now.has(path)) changes.push({ path, change: "deleted" });
  return changes;
}

function recent(now: ReadonlyMap<string, FileVersion>): ChangedFile[] {
  const since = Date.now() - RECENT_MS;
  return [...now.keys()]
    .filter((path) => (statOf(path)?.mtimeMs ?? 0) > since)
    .map((path) => ({ path, change: "changed" }));
}
