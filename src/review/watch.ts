import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Each folder costs a watch of the system, of which it has few. */
const MOST_FOLDERS = 200;

/** Reports that one of some paths has changed, by the system's events: nothing runs at rest. */
export class PathWatch {
  readonly #onChange: (path: string) => void;
  readonly #folders = new Map<string, { watcher: FSWatcher; names: Set<string> }>();

  constructor(onChange: (path: string) => void) {
    this.#onChange = onChange;
  }

  /** Watches these paths and no others; one ending with "/" is a folder with all that is in it. */
  follow(paths: Iterable<string>): void {
    const wanted = new Map<string, Set<string>>();
    for (const path of paths) {
      const isFolder = path.endsWith("/");
      const folder = isFolder ? path.slice(0, -1) : dirname(path);
      const names = wanted.get(folder) ?? new Set();
      if (!wanted.has(folder) && wanted.size >= MOST_FOLDERS) continue;
      wanted.set(folder, names.add(isFolder ? "" : basename(path)));
    }
    for (const [folder, { watcher }] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const [folder, names] of wanted) this.#watch(folder, names);
  }

  #watch(folder: string, names: Set<string>): void {
    const known = this.#folders.get(folder);
    if (known) {
      known.names = names;
      return;
    }
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) =>
        this.#report(folder, name),
      );
      watcher.on("error", () => this.#forget(folder));
      this.#folders.set(folder, { watcher, names });
    } catch {
      // Gone: the next follow() tries again.
    }
  }

  #report(folder: string, name: string | null): void {
    const names = this.#folders.get(folder)?.names;
    if (names?.has("") || (name !== null && names?.has(name))) {
      this.#onChange(name === null ? folder : `${folder}/${name}`);
    }
  }

  #forget(folder: string): void {
    this.#folders.get(folder)?.watcher.close();
    this.#folders.delete(folder);
  }

  end(): void {
    this.follow([]);
  }
}
