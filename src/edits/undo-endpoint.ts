import type { Emitter } from "../lib/emitter";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import type { AskNeovim } from "./check";
import { recoverOperations } from "./recover";
import { type Undone, undoLast } from "./undo";

/** The Neovim whose user takes renames back. */
export interface UndoPort {
  /** `:Claude undo rename`. */
  readonly onUndoRename: Emitter<void>;
  call: AskNeovim;
}

/** Takes renames back for one Neovim, and completes at its start what was interrupted. */
export class UndoEndpoint {
  readonly #port: UndoPort;
  readonly #log: Log;
  readonly #record: (undone: Undone) => void;
  #folders: readonly string[];

  /** `record` keeps what was undone for the review. */
  constructor(
    port: UndoPort,
    log: Log,
    folders: readonly string[],
    record: (undone: Undone) => void,
  ) {
    this.#port = port;
    this.#log = log;
    this.#folders = folders;
    this.#record = record;
    port.onUndoRename.on(() => void this.#undo());
  }

  /** Neovim is attached. */
  start(): void {
    for (const text of recoverOperations(this.#log)) void this.#report({ problem: text });
  }

  /** The workspace folders, real paths. */
  follow(folders: readonly string[]): void {
    this.#folders = folders;
  }

  async #undo(): Promise<void> {
    try {
      const ask: AskNeovim = (method, params, ms) => this.#port.call(method, params, ms);
      const undone = await undoLast(this.#folders, ask, this.#log);
      this.#record(undone);
      const count = undone.changes.length;
      const files = count === 1 ? "1 file" : `${count} files`;
      const changes = undone.changes.map(({ path, before, after }) => ({
        path,
        change: !before ? "created" : after ? "changed" : "deleted",
      }));
      await this.#report({ done: `took back ${undone.operation.label}: ${files}`, changes });
    } catch (error) {
      await this.#report({ problem: message(error) });
    }
  }

  async #report(report: { done: string; changes: object[] } | { problem: string }): Promise<void> {
    await this.#port
      .call("edits_undone", report)
      .catch((error) => this.#log.warn(`Reporting an undo failed: ${message(error)}`));
  }
}
