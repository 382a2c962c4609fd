import * as v from "valibot";
import { Context, Cursor, Region } from "../editor/model";
import { EditorBusyError } from "../editor/port";

/** A buffer that changes all the time is never counted. */
const MOST_CALLS = 1_000;
const UNKNOWN = -1;

/** Questions that change nothing, whoever asks: the server Neovim started, or one it did not. */
export abstract class Queries {
  /** Runs a method of `lua/claude-code/editor`. */
  abstract call(method: string, params: object): Promise<unknown>;

  region(): Promise<Region> {
    return counted(
      async () => v.parse(Region, await this.call("region", {})),
      ({ start, end }) => start !== UNKNOWN && end !== UNKNOWN,
    );
  }

  cursor(): Promise<Cursor> {
    return counted(
      async () => v.parse(Cursor, await this.call("cursor", {})),
      ({ position }) => position !== UNKNOWN,
    );
  }

  async context(linesBefore: number, linesAfter: number): Promise<Context> {
    const params = { lines_before: linesBefore, lines_after: linesAfter };
    return v.parse(Context, await this.call("context", params));
  }

  async bufferSizes(bufs: readonly number[]): Promise<number[]> {
    if (bufs.length === 0) return [];
    return counted(
      async () => v.parse(v.array(v.number()), await this.call("buffer_sizes", { bufs })),
      (sizes) => !sizes.includes(UNKNOWN),
    );
  }
}

/** Neovim counts characters for a moment in each call, and says `UNKNOWN` where it is not at the end. */
async function counted<T>(ask: () => Promise<T>, isCounted: (answer: T) => boolean): Promise<T> {
  for (let calls = 0; calls < MOST_CALLS; calls++) {
    const answer = await ask();
    if (isCounted(answer)) return answer;
  }
  throw new EditorBusyError();
}
