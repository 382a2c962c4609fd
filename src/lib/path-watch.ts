import { existsSync, type FSWatcher, watch } from "node:fs";
import { namesIn, statOf } from "./paths";
import { basename, dirname, join } from "./platform";

/** The system limits the number of watches. */
const MAX_FOLDERS = 200;
/** In ms. Bun (1.4.5) does not report a change within 2 ms after another one. */
const REPEAT_MS = 5;
/** The interval, in ms, at which we check folders that cannot be watched. */
const CHECK_MS = 1_000;

interface Folder {
  names: Set<string>;
  /** Undefined if the folder cannot be watched. */
  watcher?: FSWatcher;
  /** The stamps at the last check. */
  seen: string;
}

/** The system's error (ENOSPC, EMFILE, …) for each folder that this process cannot watch. */
const refused = new Map<Folder, string>();

/** A sentence for the user if the system refuses to watch a folder, so that we notice changes late. */
export function watchProblem(): string | undefined {
  const [code] = refused.values();
  const limits = "limits: fs.inotify.max_user_watches, max_user_instances, open files";
  return (
    code && `the system watches no more files (${code}; ${limits}): they are read once a second`
  );
}

/**
 * Calls `onChange` when one of some paths changes: at the system's event, and once more a little later. If the system
 * refuses a watch, a timer looks at the folder, and tries to watch it again.
 */
export class PathWatch {
  readonly #folders = new Map<string, Folder>();
  #timer: Timer | undefined;
  #watches = 0;

  constructor(private readonly onChange: () => void) {}

  /**
   * Watches these paths and no others. A path that ends with "/" means everything in that folder. Returns true if one
   * of them was not watched before, and may have changed unnoticed.
   */
  follow(paths: Iterable<string>): boolean {
    const wanted = new Map<string, Set<string>>();
    for (const path of paths) {
      const [folder, name] = placeOf(path);
      wanted.set(folder, (wanted.get(folder) ?? new Set()).add(name));
    }
    for (const folder of this.#folders.keys()) if (!wanted.has(folder)) this.#forget(folder);
    let isNew = false;
    for (const [path, names] of wanted) {
      const known = this.#folders.get(path);
      const folder: Folder = known ?? { names, seen: stamps(path, names) };
      isNew ||= !known || !names.isSubsetOf(known.names);
      folder.names = names;
      this.#folders.set(path, folder);
      if (!folder.watcher) this.#watch(path, folder);
    }
    clearInterval(this.#timer);
    if (this.#watches < this.#folders.size)
      this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
    return isNew;
  }

  #watch(path: string, folder: Folder): void {
    if (this.#watches >= MAX_FOLDERS) return;
    try {
      folder.watcher = watch(path, { persistent: false }, (_event, name) => {
        this.#report(path, name);
        setTimeout(() => this.#report(path, name), REPEAT_MS);
      });
      folder.watcher.on("error", () => this.#ended(path));
      this.#watches += 1;
      refused.delete(folder);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") refused.set(folder, code);
    }
  }

  #check(): void {
    let isOther = false;
    for (const [path, folder] of this.#folders) {
      if (folder.watcher) continue;
      // Watch before the check, so no change is missed in between.
      this.#watch(path, folder);
      const seen = stamps(path, folder.names);
      isOther ||= seen !== folder.seen;
      folder.seen = seen;
    }
    if (isOther) this.onChange();
  }

  #report(folder: string, name: string | null): void {
    const names = this.#folders.get(folder)?.names;
    if (!names) return;
    // The folder itself was removed or moved, so the watch does not report changes of the next folder at its path.
    if (name === basename(folder)) return this.#ended(folder);
    if (names.has("") || (name !== null && names.has(name))) this.onChange();
  }

  #ended(path: string): void {
    this.#forget(path);
    this.onChange();
  }

  #forget(path: string): void {
    const folder = this.#folders.get(path);
    if (!folder) return;
    this.#folders.delete(path);
    refused.delete(folder);
    if (folder.watcher) this.#watches -= 1;
    folder.watcher?.close();
  }

  end(): void {
    this.follow([]);
  }
}

/** A text that changes when one of the files changes. The name "" means all files in the folder. */
function stamps(folder: string, names: Set<string>): string {
  const stampOf = (name: string) => {
    const { ino, size, ctimeMs } = statOf(join(folder, name)) ?? {};
    return [name, ino, size, ctimeMs].join(" ");
  };
  return (names.has("") ? namesIn(folder) : [...names]).map(stampOf).join("/");
}

/**
 * The folder to watch for a path, and the name in it, or "" for all names. If the folder is missing, that is the
 * nearest existing one above it, to notice its creation.
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
