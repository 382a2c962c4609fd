import type { FilePath } from "../editor/model";
import { bufferAt, type EditorState } from "../editor/state";
import { Failure } from "../lib/errors";
import { fileUri, pathsOfUri, rawUri } from "../lib/file-uri";
import { isThere } from "../lib/paths";
import type { Remote as ClientRemote } from "../mcp/protocol";
import type { PathMap } from "./path-map";
import { LIMITS } from "./wire";

/** The most paths whose spelling by the client we remember. */
const MAX_SPELLINGS = 1_000;
/** No root, home folder or drive, and no name that is `..`. */
const BELOW = /^(?![/\\~]|[A-Za-z]:)(?!.*(?:^|[/\\])\.\.(?:[/\\]|$))/s;
const NOT_SHARED =
  "The file is in no folder that this Claude and Neovim share. Neovim has not looked at it.";

/** A place whose clients are not trusted. One object serves all connections from there. */
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
   * As of the map, for what Neovim says of a file. Undefined, too, where it read the text from one that is not shared:
   * the remote may have replaced the file by a symlink for that moment.
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

/** Refuses something, with a sentence for the model: the one kind of failure that a remote learns of. */
export const refusal = (text: string) => new Failure(text, "not_shared");

/** Each path costs a stat. Throws `refusal` for a longer list, or one of lists. */
function bounded(list: unknown[]): unknown[] {
  if (list.length <= LIMITS.paths && !list.some(Array.isArray)) return list;
  throw refusal(`At most ${LIMITS.paths} files can be named at once.`);
}

/** One connection of a remote: its paths and URIs, on either side of the border. */
export class Crossing {
  /** By paths of this machine: how the client spelled them last, which it compares byte by byte. */
  readonly #spellings = new Map<string, string>();
  /** The genuine CLI, which compares the URIs of diagnostics as they are, not percent-encoded. */
  isClaudeCode = false;
  /** Whether the last notification had a selection. */
  hasSelection = false;

  constructor(readonly remote: Remote) {}

  /** Throws `refusal`. Anything but a text or a list is left for the schemas to refuse. */
  pathToHost(value: unknown): unknown {
    if (Array.isArray(value)) return bounded(value).map((one) => this.pathToHost(one));
    return typeof value === "string" ? this.#toHost([value]) : value;
  }

  /** As pathToHost, but takes relative paths as below the project's root. */
  projectPathToHost(value: unknown): unknown {
    if (Array.isArray(value)) return bounded(value).map((one) => this.projectPathToHost(one));
    if (typeof value !== "string" || !BELOW.test(value)) return this.pathToHost(value);
    return this.#windows ? value.replaceAll("\\", "/") : value;
  }

  /** As pathToHost, of a file URI. */
  uriToHost(value: unknown): unknown {
    if (typeof value !== "string") return value;
    return fileUri(this.#toHost(pathsOfUri(value, this.#windows)));
  }

  /** In the client's own spelling; undefined for what it must not learn of. */
  pathToRemote(path: unknown): string | undefined {
    if (typeof path !== "string") return undefined;
    const remote = this.remote.toRemote(path);
    return remote === undefined ? undefined : (this.#spellings.get(path) ?? remote);
  }

  /** As pathToRemote, of a file URI. `raw`: it is not percent-encoded. */
  uriToRemote(uri: unknown, raw = false): string | undefined {
    const readings = pathsOfUri(String(uri));
    const path = this.pathToRemote(raw ? readings.at(-1) : readings[0]);
    return path === undefined ? undefined : (raw ? rawUri : fileUri)(path, this.#windows);
  }

  get #windows(): boolean {
    return this.remote.map.style === "win32";
  }

  #toHost(candidates: readonly string[]): string {
    const found = candidates.flatMap((spelled) => {
      const host = this.remote.map.toHost(spelled);
      return host === undefined ? [] : [{ spelled, host }];
    });
    const [first] = [...found.filter(({ host }) => isThere(host)), ...found];
    if (!first) throw refusal(NOT_SHARED);
    if (this.#spellings.size >= MAX_SPELLINGS) this.#spellings.clear();
    this.#spellings.set(first.host, first.spelled);
    return first.host;
  }
}
