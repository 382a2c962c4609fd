import { lstatSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { writePrivateFile } from "../lib/private-file";
import { NOTE } from "./candidates";

/**
 * Our Neovim's address in the projects of its workspace that were set up for it, as long as we
 * serve. Nothing here throws: the registry serves as well.
 */
export class Notes {
  readonly #address: string;
  readonly #projectAround: (folder: string) => string | undefined;
  readonly #written = new Set<string>();

  /** `projectAround` tells the set-up project that a folder belongs to. */
  constructor(address: string, projectAround: (folder: string) => string | undefined) {
    this.#address = address;
    this.#projectAround = projectAround;
  }

  follow(folders: readonly string[]): void {
    for (const folder of folders) {
      const root = this.#projectAround(folder);
      if (root) this.#write(join(root, NOTE));
    }
  }

  end(): void {
    for (const path of this.#written) {
      try {
        if (readFileSync(path, "utf8").trim() === this.#address) rmSync(path);
      } catch {
        // Gone already.
      }
    }
  }

  /** Once: the Neovim that was opened last is the one noted. Only into a real folder: the project may have put a symlink there since. */
  #write(path: string): void {
    if (this.#written.has(path)) return;
    try {
      if (!lstatSync(dirname(path)).isDirectory()) return;
      writePrivateFile(path, `${this.#address}\n`);
      this.#written.add(path);
    } catch {
      // No such folder: taken away by hand.
    }
  }
}
