import * as v from "valibot";
import { Context, Cursor, Region } from "../editor/model";

/** How long `context` waits for a language server to name the function, in such steps. */
const SYMBOLS_WAIT_MS = 400;
const SYMBOLS_POLL_MS = 25;

/** Questions that change nothing, whoever asks: the server Neovim started, or one it did not. */
export abstract class Queries {
  /** Runs a method of `lua/claude-code/editor`. */
  protected abstract ask(method: string, params: object): Promise<unknown>;

  async region(): Promise<Region> {
    return v.parse(Region, await this.ask("region", {}));
  }

  async cursor(): Promise<Cursor> {
    return v.parse(Cursor, await this.ask("cursor", {}));
  }

  /** A language server's symbols may come late: the answer waits a moment for them, once. */
  async context(linesBefore: number, linesAfter: number): Promise<Context> {
    const params = { lines_before: linesBefore, lines_after: linesAfter };
    const end = performance.now() + SYMBOLS_WAIT_MS;
    for (;;) {
      const context = v.parse(Context, await this.ask("context", params));
      if (!context.pending || performance.now() >= end) return context;
      await Bun.sleep(SYMBOLS_POLL_MS);
    }
  }

  async bufferSizes(bufs: readonly number[]): Promise<number[]> {
    if (bufs.length === 0) return [];
    return v.parse(v.array(v.number()), await this.ask("buffer_sizes", { bufs }));
  }
}
