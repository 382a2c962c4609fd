import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Each folder costs a watch of the system, of which it has few. */
const MAX_FOLDERS = 200;
/** In ms. Bun (1.4.5) leaves out a change that follows within 2 ms on one that it has reported. */
const UNSAID_MS = 5;

/**
 * Reports that one of some paths has changed, by the system's events: at once, and once more a little later.
 * Nothing runs at rest.
 */
export class PathWatch {
  readonly #folders = new Map<string, { watcher: FSWatcher; names: Set<string> }>();

  constructor(private readonly onChange: () => void) {}

  /**
   * Watches these paths and no others; one ending with "/" is a folder with all that is in it. Returns
   * whether one of them was not watched before: nothing has reported its changes until now.
   */
  follow(paths: Iterable<string>): boolean {
    const wanted = new Map<string, Set<string>>();
    for (const path of paths) {
      const [folder, name] = placeOf(path);
      const names = wanted.get(folder) ?? new Set();
      if (!wanted.has(folder) && wanted.size >= MAX_FOLDERS) continue;
      wanted.set(folder, names.add(name));
    }
    for (const [folder, { watcher }] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    let isNew = false;
    for (const [folder, names] of wanted) isNew = this.#watch(folder, names) || isNew;
    return isNew;
  }

  /** Returns whether one of the names is new. */
  #watch(folder: string, names: Set<string>): boolean {
    const known = this.#folders.get(folder);
    if (known) {
      const isNew = !names.isSubsetOf(known.names);
      known.names = names;
      return isNew;
    }
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        this.#report(folder, name);
        setTimeout(() => this.#report(folder, name), UNSAID_MS);
      });
      watcher.on("error", () => this.#ended(folder));
      this.#folders.set(folder, { watcher, names });
      return true;
    } catch {
      // Gone, or the system has no watches left: the next follow() tries again.
      return false;
    }
  }

  #report(folder: string, name: string | null): void {
    const names = this.#folders.get(folder)?.names;
    if (!names) return;
    // The folder itself was removed or moved: its watch reports nothing of what is there next.
    if (name === basename(folder)) return this.#ended(folder);
    if (names.has("") || (name !== null && names.has(name))) this.onChange();
  }

  #ended(folder: string): void {
    this.#folders.get(folder)?.watcher.close();
    this.#folders.delete(folder);
    this.onChange();
  }

  /** Is anything watched? The system may have no watches left. */
  get isWatching(): boolean {
    return this.#folders.size > 0;
  }

  end(): void {
    this.follow([]);
  }
}

/**
 * The folder to watch for a path, and the name in it: "" for all of them. Of a folder that is missing,
 * the nearest one above it shows when it is made.
 */
function placeOf(path: string): [folder: string, name: string] {
  let [folder, name] = path.endsWith("/")
    ? [path.slice(0, -1), ""]
    : [dirname(path), basename(path)];
  while (!existsSync(folder) && dirname(folder) !== folder) {
    [folder, name] = [dirname(folder), basename(folder)];
  }
  return [folder, name];
}
