import { type Dirent, readdirSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { gitTop } from "../claude/project";
import { isBelow, isUnshared, realPath, sharedFolders, statOf } from "../lib/paths";
import { command, Git, type GitResult } from "../review/git/run";
import { Privacy, patternsFile } from "../review/record/privacy";

/** A project with more is not counted, and what changed in it not looked for. */
const MOST_FILES = 50_000;
const MOST_BYTES = 16 * 1024 * 1024;
const LIST_MS = 5_000;
const LIST = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
/** What was written so shortly before it was looked at may be written again without another time. */
const SAME_TIME_MS = 20;
/** Without git: folders that hold what others have written. */
const SKIPPED = new Set(["node_modules", "target", "dist", "build", "venv", "__pycache__"]);

/** Differs when a file was written, or another one took its place, as git and `sed -i` do it. */
export type FileVersion = string;

/** The files of a project: those that git tracks or would track, else all that are found. */
export class ProjectFiles {
  readonly root: string;
  /** By Neovim's options as they were when files were listed. */
  #privacy = new Privacy();
  #git: Git | undefined;
  #files: ReadonlySet<string> | undefined;
  /** Folders of the files, and files that say what git ignores, with their mtimes when files were listed. */
  #sources = new Map<string, number>();
  #listing: Promise<ReadonlySet<string> | undefined> | undefined;

  /** `withPrivate`: who asks looks at those few that it shows, since to look at all takes seconds. */
  constructor(
    place: string,
    private readonly withPrivate = false,
  ) {
    const real = realPath(place);
    const top = gitTop(real);
    // Elsewhere, what is above the shared folders is no part of the project.
    this.root = top === undefined || isUnshared(top, sharedFolders()) ? real : top;
  }

  /** A path as Claude reads it: from the project's top. */
  nameOf(path: string): string {
    if (!isBelow(path, this.root)) return path;
    const name = path.slice(this.root.length).replace(/^[\\/]/, "");
    return sep === "/" ? name : name.replaceAll(sep, "/");
  }

  /** Absolute paths, private files left out. Undefined where there are too many. */
  list(): Promise<ReadonlySet<string> | undefined> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #list(): Promise<ReadonlySet<string> | undefined> {
    if (this.#isKnown()) return this.#files;
    const began = Date.now();
    // It is kept, since to look for drivers and hooks takes longer: `ls-files` runs none that came since.
    if (gitTop(this.root)) this.#git ??= Git.in(this.root);
    const asked = command(LIST, { ms: LIST_MS, mostBytes: MOST_BYTES });
    return this.#keep(await this.#git?.run(asked), began);
  }

  /** That they are too many is known as long as the root stays as it is. */
  #keep(listed: GitResult | undefined, began: number): ReadonlySet<string> | undefined {
    // They may come later than this process, and change.
    this.#privacy = new Privacy();
    const all = listed ? this.#ofGit(listed) : this.#walk();
    this.#files = Array.isArray(all) ? new Set(all) : undefined;
    this.#sources = new Map();
    if (!all) return undefined;
    this.#addSource(this.root, began);
    this.#addSource(patternsFile(), began);
    for (const file of this.#files ?? []) {
      this.#addFolder(dirname(file), began);
      if (basename(file) === ".gitignore") this.#addSource(file, began);
    }
    return this.#files;
  }

  /** The present version of each file. Undefined where there are too many. */
  async versions(): Promise<ReadonlyMap<string, FileVersion> | undefined> {
    const list = await this.list();
    if (!list) return undefined;
    const versions = new Map<string, FileVersion>();
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

  #addFolder(folder: string, began: number): void {
    if (this.#sources.has(folder)) return;
    this.#addSource(folder, began);
    if (isBelow(dirname(folder), this.root)) this.#addFolder(dirname(folder), began);
  }

  #addSource(path: string, began: number): void {
    const mtime = mtimeOf(path);
    this.#sources.set(path, mtime > began - SAME_TIME_MS ? Number.NaN : mtime);
  }

  #isKnown(): boolean {
    for (const [path, mtime] of this.#sources) if (mtimeOf(path) !== mtime) return false;
    return this.#sources.size > 0;
  }

  /** Undefined where git has failed otherwise. */
  #ofGit({ code, stdout }: GitResult): string[] | "too many" | undefined {
    const names = [...new Set(stdout.toString().split("\0").filter(Boolean))];
    if (names.length > MOST_FILES) return "too many";
    if (code !== 0) return undefined;
    return names
      .filter((name) => !name.endsWith("/") && !name.includes("\uFFFD"))
      .map((name) => join(this.root, name))
      .filter((path) => this.#isListed(path));
  }

  #isListed(path: string): boolean {
    return this.withPrivate || !this.#privacy.isPrivate(path);
  }

  #walk(): string[] | "too many" {
    const files: string[] = [];
    const folders = [this.root];
    let seen = 0;
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      if (++seen + files.length > MOST_FILES) return "too many";
      for (const entry of entriesOf(folder)) {
        const path = join(folder, entry.name);
        if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
        if (entry.isDirectory()) folders.push(path);
        else if (entry.isFile() && this.#isListed(path)) files.push(path);
      }
    }
    return files.length > MOST_FILES ? "too many" : files;
  }
}

function mtimeOf(path: string): number {
  return statOf(path)?.mtimeMs ?? 0;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
