import { join } from "node:path";
import { writePrivateFile } from "../lib/atomic-write";
import { namesIn, removeFile, stateFolder } from "../lib/paths";
import { readPrivateFile } from "../lib/private-folder";
import { type Entry, entries } from "./registry";

/**
 * Which Neovim a CLI works with, once one was found: one that is opened later for the same folder
 * does not get half of its hooks. Nothing here throws: without it the best candidate is taken again
 * each time.
 */
export class Binding {
  readonly #path: string;

  /** `pid`: the CLI's process, which its hooks and its stdio servers have in common. */
  constructor(
    pid: number,
    private readonly folder = join(stateFolder(), "clis"),
  ) {
    this.#path = join(folder, String(pid));
  }

  /** Undefined if there is none, or that Neovim is not among those `known` to run. */
  address(known: readonly Entry[] = entries()): string | undefined {
    const address = readPrivateFile(this.#path);
    return known.some((entry) => entry.address === address) ? address : undefined;
  }

  set(address: string): void {
    if (readPrivateFile(this.#path) === address) return;
    const known = new Set(entries().map((entry) => entry.address));
    // An address that the registry lacks would never be believed.
    if (!known.has(address)) return;
    try {
      writePrivateFile(this.#path, address);
    } catch {
      return; // As before.
    }
    for (const path of namesIn(this.folder).map((name) => join(this.folder, name))) {
      if (!known.has(readPrivateFile(path) ?? "")) removeFile(path);
    }
  }

  /** Another CLI may have the number now. */
  forget(): void {
    removeFile(this.#path);
  }
}
