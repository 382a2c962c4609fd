import { UndoEndpoint } from "../edits/undo";
import type { Log } from "../lib/log";
import type { NeovimEditor } from "../neovim/editor";
import { ReviewEndpoint } from "../review/endpoint";
import { recordLanguageUndo } from "../review/record/language-edit";

/** What Neovim asks for itself, without a client: the review, and to take renames back. Answers from now on. */
export function neovimRequests(editor: NeovimEditor, log: Log) {
  const review = new ReviewEndpoint(editor, log);
  const undo = new UndoEndpoint(editor, log, ({ operation, changes }) =>
    recordLanguageUndo(operation.stored.place, operation.id, changes),
  );
  return {
    /** Neovim is attached: from now on it is reported to. */
    start() {
      review.start();
      undo.start();
    },
    clientsChanged: () => review.clientsChanged(),
    end: () => review.end(),
  };
}
