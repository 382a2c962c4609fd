/** Less than this, in characters that came or went, leaves too little behind to care. */
const ENOUGH = 1_000_000;
/** What a connection leaves behind, in as many characters' worth. */
const CONNECTION = 20_000;
/** How long nothing has to come or go before the time for it is there, in ms: it takes 12 ms. */
const QUIET_MS = 500;

/**
 * Gives memory back once things are quiet: by itself the runtime keeps garbage for long. After
 * 40 MB in messages 80 MB resident stayed, after 1,000 diffs of a client each 74; so it is below 60.
 */
export class SpareMemory {
  #traffic = 0;
  #timer: Timer | undefined;

  noteConnection(): void {
    this.note(CONNECTION);
  }

  /** `length` characters came or went. */
  note(length: number): void {
    this.#traffic += length;
    if (this.#traffic < ENOUGH) return;
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#giveBack(), QUIET_MS);
  }

  #giveBack(): void {
    this.#timer = undefined;
    this.#traffic = 0;
    Bun.gc(true);
    Bun.shrink();
  }
}
