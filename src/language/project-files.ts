import { readdirSync } from "node:fs";
import { attempt } from "../lib/errors";
import { gitTop } from "../lib/git-folder";
import { isBelow, isUnshared, passedFolder, sharedFolders } from "../lib/paths";
import { join } from "../lib/platform";
import { command, Git, type GitResult } from "../review/git/run";

/** We do not list larger projects, so we find no changes in them. */
const MAX_FILES = 50_000;
const MAX_BYTES = 16 * 1024 * 1024;
const LIST_MS = 5_000;
const LIST = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
/** Folders of dependencies and build results, which we skip without git. */
const SKIPPED = new Set(["node_modules", "target", "dist", "build", "venv", "__pycache__"]);

/** The files of a project: those that git tracks or would track, or without git all files. */
export class ProjectFiles {
  readonly root: string;
  #git: Git | undefined;

  constructor(place: string) {
    const real = passedFolder(place);
    const top = gitTop(real);
    // On a remote, folders above the shared ones do not belong to the project.
    this.root = top === undefined || isUnshared(top, sharedFolders()) ? real : top;
  }

  /** The path for Claude: relative to the project's top. */
  nameOf(path: string): string {
    return isBelow(path, this.root) ? path.slice(this.root.length).replace(/^\//, "") : path;
  }

  /**
   * Returns absolute paths, including private files: checking all of them takes seconds, so callers check those that they
   * show. Undefined if there are too many, or git fails.
   */
  async list(): Promise<string[] | undefined> {
    // Keep the Git: looking up filter drivers and hooks takes longer than `ls-files`, which runs no new ones.
    if (gitTop(this.root)) this.#git ??= Git.in(this.root);
    const asked = command(LIST, { ms: LIST_MS, mostBytes: MAX_BYTES });
    const listed = await this.#git?.run(asked);
    return listed ? this.#ofGit(listed) : this.#walk();
  }

  #ofGit({ code, stdout }: GitResult): string[] | undefined {
    const names = [...new Set(stdout.toString().split("\0").filter(Boolean))];
    if (code !== 0 || names.length > MAX_FILES) return undefined;
    return names
      .filter((name) => !name.endsWith("/") && !name.includes("\uFFFD"))
      .map((name) => join(this.root, name));
  }

  #walk(): string[] | undefined {
    const files: string[] = [];
    const folders = [this.root];
    let seen = 0;
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      if (++seen + files.length > MAX_FILES) return undefined;
      for (const entry of attempt(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
        const path = join(folder, entry.name);
        if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
        if (entry.isDirectory()) folders.push(path);
        else if (entry.isFile()) files.push(path);
      }
    }
    return files.length > MAX_FILES ? undefined : files;
  }
}
