import { type Dirent, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { gitTop } from "../claude/project";
import { isBelow, realPath } from "../lib/paths";
import { command, Git } from "../review/git/run";
import { Privacy } from "../review/record/privacy";

/** A project with more is not counted, and what changed in it not looked for. */
const MOST_FILES = 50_000;
const MOST_BYTES = 16 * 1024 * 1024;
const LIST_MS = 5_000;
/** Without git: folders that hold what others have written. */
const SKIPPED = new Set(["node_modules", "target", "dist", "build", "venv", "__pycache__"]);

/** The files of a project: those that git tracks or would track, else all that are found. */
export class ProjectFiles {
  readonly root: string;
  readonly privacy = new Privacy();
  #files: string[] | undefined;
  /** The folders of the files, each with its mtime: a new file changes that. */
  #folders = new Map<string, number>();

  constructor(place: string) {
    const real = realPath(place);
    this.root = gitTop(real) ?? real;
  }

  /** A path as Claude reads it: from the project's top. */
  nameOf(path: string): string {
    return isBelow(path, this.root) ? relative(this.root, path).replaceAll(sep, "/") : path;
  }

  /** Undefined without git. */
  get git(): Git | undefined {
    return gitTop(this.root) ? Git.in(this.root) : undefined;
  }

  /** Absolute paths, private files left out. Undefined where there are too many. */
  list(): readonly string[] | undefined {
    if (this.#files && !this.#foldersChanged()) return this.#files;
    const all = this.#listed();
    this.#files = all && all.length <= MOST_FILES ? all : undefined;
    this.#folders = new Map([[this.root, mtimeOf(this.root)]]);
    for (const file of this.#files ?? []) this.#addFolder(dirname(file));
    return this.#files;
  }

  #addFolder(folder: string): void {
    if (this.#folders.has(folder)) return;
    this.#folders.set(folder, mtimeOf(folder));
    if (isBelow(dirname(folder), this.root)) this.#addFolder(dirname(folder));
  }

  #foldersChanged(): boolean {
    for (const [folder, mtime] of this.#folders) if (mtimeOf(folder) !== mtime) return true;
    return false;
  }

  #listed(): string[] | undefined {
    const { git } = this;
    if (!git) return this.#walk();
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const { code, stdout } = git.wait(command(args, { ms: LIST_MS, mostBytes: MOST_BYTES }));
    if (code !== 0) return undefined;
    const names = new Set(stdout.toString().split("\0").filter(Boolean));
    return [...names]
      .filter((name) => !name.endsWith("/") && !name.includes("\uFFFD"))
      .map((name) => join(this.root, name))
      .filter((path) => !this.privacy.isPrivate(path));
  }

  #walk(): string[] {
    const files: string[] = [];
    const folders = [this.root];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of entriesOf(folder)) {
        const path = join(folder, entry.name);
        if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
        if (entry.isDirectory()) folders.push(path);
        else if (entry.isFile() && !this.privacy.isPrivate(path)) files.push(path);
      }
      if (files.length > MOST_FILES) break;
    }
    return files;
  }
}

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function mtimeOf(folder: string): number {
  return statOf(folder)?.mtimeMs ?? 0;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
