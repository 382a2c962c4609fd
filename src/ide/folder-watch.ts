import { type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";

/** How long after an event the callback runs: a file that is replaced makes several. */
const FOLD_MS = 50;

/** Calls back after something changed in one folder. By the system's events: nothing runs at rest. */
export class FolderWatch {
  readonly #folder: string;
  readonly #onChange: () => void;
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;

  constructor(folder: string, onChange: () => void) {
    this.#folder = folder;
    this.#onChange = onChange;
  }

  /** Watches the folder that is there now. Returns false if that is impossible. */
  arm(): boolean {
    if (this.#watcher) return true;
    try {
      const watcher = watch(this.#folder, { persistent: false }, (_event, name) =>
        this.#changed(name),
      );
      watcher.on("error", () => this.#changed(null));
      this.#watcher = watcher;
      return true;
    } catch {
      return false;
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#disarm();
  }

  /** The folder's own name: it was removed, moved, or given other rights. */
  #changed(name: string | null): void {
    if (name === null || name === basename(this.#folder)) this.#disarm();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#onChange();
    }, FOLD_MS);
  }

  #disarm(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
