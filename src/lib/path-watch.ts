import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { namesIn, statOf } from "./paths";

/** Each folder costs a watch of the system, of which it has few. */
const MAX_FOLDERS = 200;
/** In ms. Bun (1.4.5) leaves out a change that follows within 2 ms on one that it has reported. */
const UNSAID_MS = 5;
/** How often a folder that cannot be watched is looked at. */
const LOOK_MS = 1_000;

interface Folder {
  names: Set<string>;
  /** Undefined: it is looked at by time. */
  watcher?: FSWatcher;
  /** Its stamps at the last look. */
  seen: string;
}

/** The system's error (ENOSPC, EMFILE, …) for each folder of this process that it does not watch. */
const refused = new Map<Folder, string>();

/** Why changes of files are noticed late: a sentence for the user; undefined as long as the system watches all. */
export function watchProblem(): string | undefined {
  const [code] = refused.values();
  const limits = "limits: fs.inotify.max_user_watches, max_user_instances, open files";
  return (
    code && `the system watches no more files (${code}; ${limits}): they are read once a second`
  );
}

/**
 * Reports that one of some paths has changed, by the system's events: at once, and once more a little later. Nothing
 * runs at rest, unless the system refuses a watch: then it looks by time, and asks again for the watch.
 */
export class PathWatch {
  readonly #folders = new Map<string, Folder>();
  #timer: Timer | undefined;
  #watches = 0;

  constructor(private readonly onChange: () => void) {}

  /**
   * Watches these paths and no others; one ending with "/" is a folder with all that is in it. Returns whether one of
   * them was not watched before: nothing has reported its changes until now.
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
      this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
    return isNew;
  }

  #watch(path: string, folder: Folder): void {
    if (this.#watches >= MAX_FOLDERS) return;
    try {
      folder.watcher = watch(path, { persistent: false }, (_event, name) => {
        this.#report(path, name);
        setTimeout(() => this.#report(path, name), UNSAID_MS);
      });
      folder.watcher.on("error", () => this.#ended(path));
      this.#watches += 1;
      refused.delete(folder);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") refused.set(folder, code);
    }
  }

  #look(): void {
    let isOther = false;
    for (const [path, folder] of this.#folders) {
      if (folder.watcher) continue;
      // Before the look: what happens after it is an event.
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
    // The folder itself was removed or moved: its watch reports nothing of what is there next.
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

/** Another text where names in a folder have changed; "" means all of them. */
function stamps(folder: string, names: Set<string>): string {
  const stampOf = (name: string) => {
    const { ino, size, ctimeMs } = statOf(join(folder, name)) ?? {};
    return [name, ino, size, ctimeMs].join(" ");
  };
  return (names.has("") ? namesIn(folder) : [...names]).map(stampOf).join("/");
}

/**
 * The folder to watch for a path, and the name in it: "" for all of them. If a folder is missing, watches the nearest
 * one above it to notice its creation.
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
