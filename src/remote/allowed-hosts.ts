import { join } from "node:path";
import type { EditorPort } from "../editor/port";
import { stateFolder } from "../lib/paths";
import { isShareable, PathMap } from "./path-map";
import { Remote } from "./remote";

const STYLE = process.platform === "win32" ? "win32" : "posix";

/** The folder for the lock file with the token of contained clients, and no other: to be mounted. */
export function containedLockFolder(): string {
  return join(stateFolder(), "ide");
}

/** A token (UUID v4) that is the same after a restart, and from which nobody learns `token`. */
export function containedToken(token: string): string {
  const hex = new Bun.CryptoHasher("sha256", token).update("contained").digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, "$1-$2-4$3-8$4-$5");
}

/**
 * The remotes whose clients connect to this machine by another name of it, as from Docker Desktop. They
 * see the files at the same paths, and of these the workspace's folders alone, as they are at any time.
 */
export class AllowedHosts {
  readonly #remotes = new Map<string, Remote>();
  #of: readonly string[] | undefined;
  #map: PathMap | undefined;

  constructor(private readonly editor: Pick<EditorPort, "state">) {}

  remote(name: string): Remote {
    const known = this.#remotes.get(name);
    if (known) return known;
    const remote = new Remote(
      name,
      () => this.#workspace(),
      () => this.editor.state,
    );
    this.#remotes.set(name, remote);
    return remote;
  }

  #workspace(): PathMap {
    const { folders } = this.editor.state;
    if (this.#map && this.#of === folders) return this.#map;
    this.#of = folders;
    const shared = folders.filter((folder) => isShareable(folder));
    this.#map = mapOf(shared) ?? new PathMap([], STYLE);
    return this.#map;
  }
}

/** undefined: one of them was replaced by a symlink just now. */
function mapOf(folders: readonly string[]): PathMap | undefined {
  try {
    return new PathMap(
      folders.map((folder) => ({ remote: folder, host: folder })),
      STYLE,
    );
  } catch {
    return undefined;
  }
}
