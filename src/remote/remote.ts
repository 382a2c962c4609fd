import { bufferAt } from "../editor/buffers";
import type { FilePath } from "../editor/port";
import type { EditorState } from "../editor/state";
import type { Remote as ClientRemote } from "../mcp/client";
import type { PathMap } from "./path-map";

/** Where clients run that are believed in nothing. One for all connections from there. */
export class Remote implements ClientRemote {
  /** Proposals from there that wait for the user. */
  waiting = 0;
  /** Programs that run here for it: hooks and MCP servers. */
  running = 0;

  /** `name`: by the user's options, never by the client's word. `editor`: of which it learns what is shared. */
  constructor(
    readonly name: string,
    readonly map: PathMap,
    private readonly editor: { readonly state: EditorState },
  ) {}

  get folders(): readonly string[] {
    return this.map.folders;
  }

  /**
   * As of the map, for what Neovim says of a file. Undefined, too, where it read the text from one that is not
   * shared: the remote may have replaced the file by a symlink for that moment.
   */
  toRemote(path: string): string | undefined {
    const { map } = this;
    const { sources = [] } = bufferAt(this.editor.state, path as FilePath) ?? {};
    return sources.every((one) => map.toRemote(one) !== undefined) ? map.toRemote(path) : undefined;
  }

  sees(path: string): boolean {
    return this.toRemote(path) !== undefined;
  }
}
