import { UndoEndpoint } from "../edits/undo";
import type { Log } from "../lib/log";
import type { NeovimEditor } from "../neovim/editor";
import { ReviewEndpoint } from "../review/endpoint";
import { recordLanguageUndo } from "../review/record/language-edit";

/** What Neovim asks for itself, without a client: the review, and to take renames back. */
export class NeovimRequests {
  readonly #review: ReviewEndpoint;
  readonly #undo: UndoEndpoint;

  /** Answers from now on. */
  constructor(editor: NeovimEditor, log: Log) {
    this.#review = new ReviewEndpoint(editor, log);
    this.#undo = new UndoEndpoint(editor, log, ({ operation, changes }) =>
      recordLanguageUndo(operation.stored.place, operation.id, changes),
    );
  }

  /** Neovim is attached: from now on it is reported to. */
  start(): void {
    this.#review.start();
    this.#undo.start();
  }

  clientsChanged(): void {
    this.#review.clientsChanged();
  }

  end(): void {
    this.#review.end();
  }
}
