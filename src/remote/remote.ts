import type { Remote as ClientRemote } from "../mcp/client";
import type { PathMap } from "./path-map";

/** Where clients run that are believed in nothing. One for all connections from there. */
export class Remote implements ClientRemote {
  /** Proposals from there that wait for the user. */
  waiting = 0;

  /** `name`: by the user's options, never by the client's word. `map`: the folders shared just now. */
  constructor(
    readonly name: string,
    private readonly shared: () => PathMap,
  ) {}

  get map(): PathMap {
    return this.shared();
  }

  get folders(): readonly string[] {
    return this.map.folders;
  }

  sees(path: string): boolean {
    return this.map.toRemote(path) !== undefined;
  }
}
