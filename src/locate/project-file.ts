import { lstatSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { writePrivateFile } from "../lib/atomic-write";
import { attempt } from "../lib/errors";
import { readText } from "../lib/read-regular";

/** A project's own file that names its Neovim, below the project's top folder (spec 04). */
export const PROJECT_FILE = join(".nvim-claude", "nvim-server");
const LIMIT_BYTES = 4096;

/** The address in the project file of a folder; undefined without a regular file of sane size. */
export function readProjectFile(folder: string): string | undefined {
  const path = join(folder, PROJECT_FILE);
  // A symlink that is put there in between leads to a text at most, which names no Neovim.
  const isFile = attempt(() => lstatSync(path).isFile());
  return isFile ? readText(path, LIMIT_BYTES)?.trim() : undefined;
}

/**
 * Keeps our Neovim's address in the projects of its workspace that were set up for it, as long as
 * we serve. Nothing here throws: the registry serves as well.
 */
export class ProjectFiles {
  readonly #written = new Set<string>();

  /** `projectAround` returns the set-up project that a folder belongs to. */
  constructor(
    private readonly address: string,
    private readonly projectAround: (folder: string) => string | undefined,
  ) {}

  follow(folders: readonly string[]): void {
    for (const folder of folders) {
      const root = this.projectAround(folder);
      if (root) this.#write(root);
    }
  }

  end(): void {
    for (const root of this.#written) {
      if (readProjectFile(root) === this.address) rmSync(join(root, PROJECT_FILE), { force: true });
    }
  }

  /**
   * Writes once: the file names the Neovim that was opened last. Only into a real folder: the
   * project may have put a symlink there since.
   */
  #write(root: string): void {
    const path = join(root, PROJECT_FILE);
    if (this.#written.has(root)) return;
    // The user may have removed the folder.
    attempt(() => {
      if (!lstatSync(dirname(path)).isDirectory()) return;
      writePrivateFile(path, `${this.address}\n`);
      this.#written.add(root);
    });
  }
}
