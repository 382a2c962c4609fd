import type { FilePath } from "../editor/model";
import { bufferAt, type EditorState } from "../editor/state";
import { Failure } from "../lib/errors";
import { fileUri, pathsOfUri, rawUri } from "../lib/file-uri";
import { isThere } from "../lib/paths";
import type { Remote as ClientRemote } from "../mcp/protocol";
import type { PathMap } from "./path-map";
import { LIMITS } from "./wire";

/** The number of paths whose spelling by the client we remember. */
const MAX_SPELLINGS = 1_000;
/** A relative path without `..`, `~` or a drive. */
const BELOW = /^(?![/\\~]|[A-Za-z]:)(?!.*(?:^|[/\\])\.\.(?:[/\\]|$))/s;
const NOT_SHARED =
  "The file is in no folder that this Claude and Neovim share. Neovim has not looked at it.";

/** A container or another machine, whose clients we do not trust. One object serves all connections from there. */
export class Remote implements ClientRemote {
  /** The number of its proposals that wait for the user. */
  waiting = 0;
  /** The number of hooks and MCP servers that run for it on this machine. */
  running = 0;

  /** `name` comes from the user's options, never from the client. */
  constructor(
    readonly name: string,
    readonly map: PathMap,
    private readonly editor: { readonly state: EditorState },
  ) {}

  get folders(): readonly string[] {
    return this.map.folders;
  }

  /**
   * The remote's path of a file in Neovim. Undefined if the file is not shared, or if Neovim read its text from a file
   * that is not: the remote may have replaced the file with a symlink for a moment.
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

/** A refusal with a sentence for the model. A remote learns of no other kind of failure. */
export const refusal = (text: string) => new Failure(text, "not_shared");

/** Limits the number of paths, since each costs a stat. Throws `refusal` for a longer or a nested list. */
function bounded(list: unknown[]): unknown[] {
  if (list.length <= LIMITS.paths && !list.some(Array.isArray)) return list;
  throw refusal(`At most ${LIMITS.paths} files can be named at once.`);
}

/** Translates the paths and URIs of one connection of a remote. */
export class Crossing {
  /** The client's last spelling of each path of this machine. The client compares paths byte by byte. */
  readonly #spellings = new Map<string, string>();
  /** The client is the genuine CLI. It compares the URIs of diagnostics without percent-encoding. */
  isClaudeCode = false;
  /** The last notification to the client had a selection. */
  hasSelection = false;

  constructor(readonly remote: Remote) {}

  /** Throws `refusal`. The schemas refuse anything but a text or a list. */
  pathToHost(value: unknown): unknown {
    if (Array.isArray(value)) return bounded(value).map((one) => this.pathToHost(one));
    return typeof value === "string" ? this.#toHost([value]) : value;
  }

  /** As pathToHost, but also accepts paths relative to the project's root. */
  projectPathToHost(value: unknown): unknown {
    if (Array.isArray(value)) return bounded(value).map((one) => this.projectPathToHost(one));
    if (typeof value !== "string" || !BELOW.test(value)) return this.pathToHost(value);
    return this.#windows ? value.replaceAll("\\", "/") : value;
  }

  /** As pathToHost, for a file URI. */
  uriToHost(value: unknown): unknown {
    if (typeof value !== "string") return value;
    return fileUri(this.#toHost(pathsOfUri(value, this.#windows)));
  }

  /** The path in the client's own spelling; undefined if the client must not learn of the file. */
  pathToRemote(path: unknown): string | undefined {
    if (typeof path !== "string") return undefined;
    const remote = this.remote.toRemote(path);
    return remote === undefined ? undefined : (this.#spellings.get(path) ?? remote);
  }

  /** As pathToRemote, for a file URI. `raw` means that it is not percent-encoded. */
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
