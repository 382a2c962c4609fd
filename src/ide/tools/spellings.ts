import type { FilePath } from "../../editor/model";
import { resolveLinks } from "../../editor/path";
import { realPath } from "../../lib/paths";
import type { Client } from "../../mcp/protocol";

/**
 * How each client spelled a file last. Neovim resolves symlinked folders in buffer names, and
 * Claude Code compares URIs as text, so it must get a file under the name it used itself.
 */
export class FileNames {
  readonly #spellings = new WeakMap<Client, Map<string, string>>();

  /** Remembers a path under the name that the client gave it; returns the real path behind it. */
  remember(client: Client, path: FilePath, given: string = path): FilePath {
    const real = resolveLinks(path);
    const known = this.#spellings.get(client) ?? new Map<string, string>();
    this.#spellings.set(client, known.set(real, given));
    return real;
  }

  /** The client's own name for the file at this path, else the path as it is. */
  of(client: Client, path: string): string {
    const known = this.#spellings.get(client);
    if (!known || known.size === 0) return path;
    return known.get(path) ?? known.get(realPath(path)) ?? path;
  }
}
