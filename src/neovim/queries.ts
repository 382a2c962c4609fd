import * as v from "valibot";
import { Context, Cursor, Region } from "../editor/model";

/** A buffer that changes all the time is never counted. */
const MOST_CALLS = 1_000;

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

  async context(linesBefore: number, linesAfter: number): Promise<Context> {
    const params = { lines_before: linesBefore, lines_after: linesAfter };
    return v.parse(Context, await this.ask("context", params));
  }

  /** Neovim counts for a moment in each call, and says -1 for what is not counted to its end. */
  async bufferSizes(bufs: readonly number[]): Promise<number[]> {
    let sizes: number[] = [];
    for (let calls = 0; bufs.length > 0 && calls < MOST_CALLS; calls++) {
      sizes = v.parse(v.array(v.number()), await this.ask("buffer_sizes", { bufs }));
      if (!sizes.includes(-1)) break;
    }
    return sizes.map((size) => Math.max(0, size));
  }
}
