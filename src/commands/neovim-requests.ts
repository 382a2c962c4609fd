import { UndoEndpoint } from "../edits/undo";
import type { Log } from "../lib/log";
import type { NeovimEditor } from "../neovim/editor";
import { ReviewEndpoint } from "../review/endpoint";
import { recordLanguageUndo } from "../review/record/language-edit";

/** What Neovim asks for itself, without a client: the review, and to take renames back. */
export class NeovimRequests {
  readonly #review: ReviewEndpoint;
  readonly #undo: UndoEndpoint;

  /** Answers from now on. `folders`: the workspace folders, real paths. */
  constructor(editor: NeovimEditor, log: Log, folders: readonly string[]) {
    this.#review = new ReviewEndpoint(editor, log, folders);
    this.#undo = new UndoEndpoint(editor, log, folders, ({ operation, changes }) =>
      recordLanguageUndo(operation.place, operation.id, changes),
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

  follow(folders: readonly string[]): void {
    this.#review.follow(folders);
    this.#undo.follow(folders);
  }

  end(): void {
    this.#review.end();
  }
}
