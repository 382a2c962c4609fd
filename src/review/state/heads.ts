import type { JournalRecord } from "../journal/record";

/**
 * Which commits HEAD named, as the journal has it. It moves by a call of Claude's if it is another one
 * at the call's end; between calls, and at a prompt, the user has moved it.
 */
export class Heads {
  /** The last one that was recorded. */
  last: string | undefined;
  /** The one up to which commits were looked at. */
  from: string | undefined;
  /** When that was, in ms since the epoch. */
  at = 0;
  /** HEAD moved to it between two times while no Neovim looked, and not by a call that was recorded. */
  unsettled: { head: string; from: number; until: number } | undefined;

  take(record: JournalRecord): void {
    if (!("head" in record) || record.head === undefined) return;
    const { head, type, at } = record;
    const from = this.at;
    this.at = at;
    // A commit from before a decision was taken back does not make it again.
    if (type === "keep" || type === "back") return this.settle(head);
    const isUsers = type === "prompt" && this.last !== undefined && head !== this.last;
    if (isUsers) this.unsettled = { head, from: this.unsettled?.from ?? from, until: at };
    else if (head !== this.last && this.unsettled === undefined) this.from = head;
    this.from ??= head;
    this.last = head;
  }

  settle(head: string): void {
    this.last = head;
    this.from = head;
    this.unsettled = undefined;
  }
}
