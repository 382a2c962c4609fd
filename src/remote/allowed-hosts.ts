import type { EditorPort } from "../editor/port";
import { isShareable, PathMap } from "./path-map";
import { Remote } from "./remote";

const STYLE = process.platform === "win32" ? "win32" : "posix";

/**
 * The remotes whose clients connect to this machine by another name of it, as from Docker Desktop. They
 * see the files at the same paths, and of these the workspace's folders alone, as they are at any time.
 */
export class AllowedHosts {
  readonly #remotes = new Map<string, Remote>();
  #of: readonly string[] | undefined;
  #map = new PathMap([], STYLE);

  constructor(private readonly editor: Pick<EditorPort, "state">) {}

  remote(name: string): Remote {
    const known = this.#remotes.get(name) ?? new Remote(name, () => this.#workspace());
    this.#remotes.set(name, known);
    return known;
  }

  #workspace(): PathMap {
    const { folders } = this.editor.state;
    if (this.#of === folders) return this.#map;
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
