import type { DiffEnd, FilePath } from "../../editor/model";
import type { EditorPort } from "../../editor/port";
import { withDeadline } from "../../lib/deadline";
import type { Log } from "../../lib/log";

/** Neovim refuses a proposal of more than 1 MB: of a bigger one it need not receive all to say so. */
const PROPOSAL_BYTES = 1024 * 1024 + 4;

interface DiffRequest {
  client: number;
  remote?: string | undefined;
  oldPath: FilePath;
  newPath: FilePath;
  contents: string;
  name?: string | undefined;
}

/** `text` is the final text: the proposal itself, to the byte, unless the user edited it. */
type DiffOutcome =
  | { accepted: true; text: string }
  | { accepted: false; reason?: string | undefined };

const REMEMBERED_NAMES = 100;
const CLOSING_MS = 1_000;

const REJECTED: DiffOutcome = { accepted: false };

interface PendingDiff extends DiffRequest {
  id: number;
  end(outcome: DiffOutcome): void;
}

/** The diffs that wait for the user. Each ends exactly once, whatever happens to it. */
export class Diffs {
  readonly #pending = new Map<number, PendingDiff>();
  readonly #names = new Set<string>();
  #nextId = 1;

  constructor(
    private readonly editor: EditorPort,
    private readonly log: Log,
  ) {
    editor.on("diff_ended", (end) => this.#ended(end));
  }

  /** Shows a proposal. Resolves when the user decided, or the diff was closed, or `signal` aborted. */
  async open(request: DiffRequest, signal: AbortSignal): Promise<DiffOutcome> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<DiffOutcome>();
    this.#pending.set(id, { ...request, id, end: resolve });
    this.#rememberName(request.name);
    const abort = () => void this.#close([id]);
    signal.addEventListener("abort", abort, { once: true });
    try {
      const { oldPath, newPath, contents, ...rest } = request;
      const shown = this.editor.call("diff_open", {
        id,
        ...rest,
        old_path: oldPath,
        new_path: newPath,
        contents: Buffer.from(contents).subarray(0, PROPOSAL_BYTES).toString(),
      });
      return await Promise.race([promise, shown.then(() => promise)]);
    } finally {
      this.#pending.delete(id);
      signal.removeEventListener("abort", abort);
    }
  }

  /** Ends the diffs that the client opened under this name. Resolves to how many that were. */
  closeNamed(client: number, name: string): Promise<number> {
    return this.#closeWhere((diff) => diff.client === client && diff.name === name);
  }

  hasOpen(client: number): boolean {
    return [...this.#pending.values()].some((diff) => diff.client === client);
  }

  /** Whether a diff of this name was ever opened, by any client; it may be closed since. */
  isDiffName(name: string): boolean {
    return this.#names.has(name);
  }

  /** Ends all diffs of one client: it asked, or it is gone. Resolves to how many that were. */
  closeOf(client: number): Promise<number> {
    return this.#closeWhere((diff) => diff.client === client);
  }

  /** Answers all that wait; Neovim itself is ending and closes what it shows. */
  rejectAll(): void {
    for (const diff of this.#pending.values()) diff.end(REJECTED);
  }

  /** Bounded: only a close that follows soon must find its name. */
  #rememberName(name: string | undefined): void {
    if (name === undefined) return;
    this.#names.delete(name);
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > REMEMBERED_NAMES) this.#names.delete(oldest as string);
  }

  #closeWhere(matches: (diff: PendingDiff) => boolean): Promise<number> {
    const found = [...this.#pending.values()].filter(matches);
    return this.#close(found.map((diff) => diff.id));
  }

  /**
   * Answers first, then closes. A busy Neovim closes them as soon as it has time, without a caller
   * that waits: only openDiff may take as long as that.
   */
  async #close(ids: number[]): Promise<number> {
    for (const id of ids) {
      this.#pending.get(id)?.end(REJECTED);
      this.#pending.delete(id);
    }
    try {
      if (ids.length > 0)
        await withDeadline(this.editor.call("diff_close", { ids }), CLOSING_MS, "Neovim");
    } catch (error) {
      this.log.warn(`Closing a diff in Neovim failed: ${error}`);
    }
    return ids.length;
  }

  #ended({ id, outcome, text, reason }: DiffEnd): void {
    const diff = this.#pending.get(id);
    if (!diff) return;
    if (outcome === "rejected") return diff.end({ accepted: false, reason });
    diff.end({ accepted: true, text: text ?? diff.contents });
  }
}
