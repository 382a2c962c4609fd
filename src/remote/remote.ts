import { bufferAt } from "../editor/buffers";
import type { FilePath } from "../editor/port";
import type { EditorState } from "../editor/state";
import type { Remote as ClientRemote } from "../mcp/client";
import type { Mirror } from "./mirror";
import type { PathMap } from "./path-map";
import type { RemoteReview } from "./remote-review";

/** Where clients run that are believed in nothing. One for all connections from there. */
export class Remote implements ClientRemote {
  /** Proposals from there that wait for the user. */
  waiting = 0;
  /** Messages from there that wait for files to come, in characters. */
  behind = 0;
  /** Programs that run here for it: hooks and MCP servers. */
  running = 0;

  /**
   * `name`: by the user's options, never by the client's word. `shared`: the folders shared just now. `state`: of
   * Neovim. `mirror`, `review`: of folders that are there alone.
   */
  constructor(
    readonly name: string,
    private readonly shared: () => PathMap,
    private readonly state: () => EditorState,
    readonly mirror?: Mirror,
    readonly review?: RemoteReview,
  ) {}

  get map(): PathMap {
    return this.shared();
  }

  get folders(): readonly string[] {
    return this.map.folders;
  }

  /**
   * As of the map, for what Neovim says of a file. Undefined, too, where it read the text from one that is not
   * shared: the remote may have replaced the file by a symlink for that moment.
   */
  toRemote(path: string): string | undefined {
    const { map } = this;
    const { sources = [] } = bufferAt(this.state(), path as FilePath) ?? {};
    return sources.every((one) => map.toRemote(one) !== undefined) ? map.toRemote(path) : undefined;
  }

  sees(path: string): boolean {
    return this.toRemote(path) !== undefined;
  }
}
