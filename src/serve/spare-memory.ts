/** A burst of less than this, in characters that came or went, leaves too little behind to care. */
const BURST = 4_000_000;
/** How long nothing has to come or go before the time for it is there, in ms. */
const QUIET_MS = 500;

/**
 * Gives memory back after a burst of big messages, once things are quiet: by itself the runtime
 * keeps it for long (after 40 MB in messages 80 MB resident stayed, and so it is 60).
 */
export class SpareMemory {
  #traffic = 0;
  #timer: Timer | undefined;

  /** So many characters came or went. */
  note(length: number): void {
    this.#traffic += length;
    if (this.#traffic < BURST) return;
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
