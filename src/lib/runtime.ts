/** After less traffic than this, in characters, there is too little to collect. */
const ENOUGH = 1_000_000;
/** How long nothing must come or go before a collection, in ms: it takes 12 ms. */
const IDLE_MS = 500;

/**
 * Collects garbage when idle: by itself the runtime keeps it for long. After 40 MB in messages
 * 80 MB resident stayed; with this it is below 60.
 */
export class IdleGc {
  #traffic = 0;
  #timer: Timer | undefined;

  /** `length` characters came or went. */
  count(length: number): void {
    this.#traffic += length;
    if (this.#traffic < ENOUGH) return;
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#collect(), IDLE_MS).unref();
  }

  #collect(): void {
    this.#timer = undefined;
    this.#traffic = 0;
    Bun.gc(true);
    Bun.shrink();
  }
}

/**
 * From now on code that runs often is compiled as early as usual. The executable starts with a compiler that
 * waits longer (`jitPolicy` in scripts/build.ts): a start and most hooks are over before compiling pays.
 */
export function compileEarly(): void {
  Bun.unsafe.setJITPolicy(1);
}
