import type { RecordOf } from "../journal/record";

/** A comment of the user's on lines of a file, for Claude. */
export interface Comment {
  /** The id of the record that made it. */
  id: string;
  /** Relative to the root, with "/". */
  path: string;
  /** First row (from 1) and count, when it was made or its file was written last. */
  rows: [number, number];
  /** The first of those lines, by which they are found again. */
  lines: string[];
  text: string;
  /** Claude has received it. */
  isSent: boolean;
}

/** More are not shown, the newest ones stay: a review is a matter of some. */
const MOST = 500;

/** The comments of one root, as the journal has them. */
export class Comments {
  readonly #byId = new Map<string, Comment>();

  take({ id, comment = id, state, path, rows, lines, text }: RecordOf<"comment">): void {
    if (state === "deleted") {
      this.#byId.delete(comment);
      return;
    }
    const isSent = state === "sent";
    this.#byId.set(comment, {
      ...{ id: comment, path, text, isSent },
      ...{ rows: rows ?? [1, 1], lines: lines ?? [] },
    });
  }

  /** In the order in which they were made. */
  get all(): Comment[] {
    return [...this.#byId.values()].slice(-MOST);
  }
}
