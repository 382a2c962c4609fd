import { lstatSync, rmSync } from "node:fs";
import { writePrivateFile } from "../lib/atomic-write";
import { attempt } from "../lib/errors";
import { dirname, join } from "../lib/platform";
import { readText } from "../lib/read-regular";

/** The file of a project that names its Neovim (spec 04). */
export const PROJECT_FILE = join(".nvim-claude", "nvim-server");
const LIMIT_BYTES = 4096;

/** The address in a folder's project file; undefined if the file is not regular, or too large. */
export function readProjectFile(folder: string): string | undefined {
  const path = join(folder, PROJECT_FILE);
  // A symlink that replaces the file now can lead only to a text, which must be the address of a known Neovim.
  const isFile = attempt(() => lstatSync(path).isFile());
  return isFile ? readText(path, LIMIT_BYTES)?.trim() : undefined;
}

/**
 * Keeps our Neovim's address, while we serve it, in those projects of its workspace that were set up. Never throws,
 * because the registry has the address as well.
 */
export class ProjectFiles {
  readonly #written = new Set<string>();

  /** `projectAround` returns the set-up project that a folder belongs to. */
  constructor(
    private readonly address: string,
    private readonly projectAround: (folder: string) => string | undefined,
  ) {}

  follow(folders: readonly string[]): void {
    for (const root of folders.flatMap((folder) => this.projectAround(folder) ?? [])) {
      if (!this.#written.has(root)) this.#write(root);
    }
  }

  end(): void {
    for (const root of this.#written) {
      if (readProjectFile(root) === this.address) rmSync(join(root, PROJECT_FILE), { force: true });
    }
  }

  /**
   * Writes once, so that the file names the Neovim that was opened last. Writes only into a real folder, because a hostile
   * project may have put a symlink there.
   */
  #write(root: string): void {
    const path = join(root, PROJECT_FILE);
    // The user may have removed the folder.
    attempt(() => {
      if (!lstatSync(dirname(path)).isDirectory()) return;
      writePrivateFile(path, `${this.address}\n`);
      this.#written.add(root);
    });
  }
}
