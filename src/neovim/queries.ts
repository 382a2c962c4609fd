import * as v from "valibot";
import { Context, Cursor, Region } from "../editor/model";

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

  async bufferSizes(bufs: readonly number[]): Promise<number[]> {
    if (bufs.length === 0) return [];
    return v.parse(v.array(v.number()), await this.ask("buffer_sizes", { bufs }));
  }
}
