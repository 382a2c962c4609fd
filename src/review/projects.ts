import { dirname, join } from "node:path";
import { isBelow, namesIn, realPath, stateFolder } from "../lib/paths";
import { readPrivateFile } from "../lib/private-folder";
import { reviewRoot } from "./journal/folder";
import { ReviewedProject } from "./state/reviewed-project";

/** The projects of one Neovim, each with what its journal says by now. */
export class Projects {
  readonly #projects = new Map<string, ReviewedProject>();
  #reading: Promise<void> = Promise.resolve();
  #folders: readonly string[] = [];

  /** `folders`: the workspace folders, real paths. */
  follow(folders: readonly string[]): void {
    this.#folders = folders;
  }

  /** The projects of the workspace: those around its folders, and recorded ones below them. */
  all(): ReviewedProject[] {
    return this.#roots().map((root) => this.#project(root));
  }

  /**
   * Reads what was added to all journals; other events have their turn in between. Those who wait for it
   * go on in the order in which they came.
   */
  catchUp(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readAll());
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    for (const root of new Set([...this.#roots(), ...this.#projects.keys()])) {
      // Whoever needs a journal that cannot be read gets the error.
      await this.#known(root)
        .catchUp()
        .catch(() => {});
    }
  }

  #roots(): string[] {
    const roots = new Set(this.#folders.map((folder) => reviewRoot(folder)));
    for (const root of recordedRoots()) {
      if (this.#folders.some((folder) => isBelow(root, folder))) roots.add(root);
    }
    return [...roots];
  }

  #known(root: string): ReviewedProject {
    const project = this.#projects.get(root) ?? new ReviewedProject(root);
    this.#projects.set(root, project);
    return project;
  }

  #project(root: string): ReviewedProject {
    const project = this.#known(root);
    project.refresh();
    return project;
  }

  /** A file's project: of those that are known the innermost, else the one around it. */
  locate(path: string): { project: ReviewedProject; relativePath: string } {
    const real = withRealFolder(path);
    const roots = [...this.all().map(({ root }) => root), ...this.#projects.keys()];
    const inner = roots
      .filter((root) => isBelow(real, root))
      .sort((one, other) => other.length - one.length)[0];
    const project = this.#project(inner ?? reviewRoot(dirname(real)));
    return { project, relativePath: project.relativePath(real) };
  }

  /** Those outside of the workspace, too, about which something was asked. */
  known(): ReviewedProject[] {
    return [...new Set([...this.all(), ...this.#projects.values()])];
  }
}

/** The path below the root of an absolute one; that of its folder is a real one. */
export function relativePathIn(project: ReviewedProject, path: string): string {
  return project.relativePath(withRealFolder(path));
}

function withRealFolder(path: string): string {
  return join(realPath(dirname(path)), path.slice(dirname(path).length));
}

/** The roots of which something is recorded. */
function recordedRoots(): string[] {
  const folder = join(stateFolder(), "review");
  return namesIn(folder).flatMap((name) => readPrivateFile(join(folder, name, "root")) ?? []);
}
