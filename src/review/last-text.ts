import * as v from "valibot";
import { UserError } from "../lib/errors";
import { isObject } from "../lib/json";

const Sent = v.object({
  id: v.number(),
  /** In base64; left out if they came with an earlier request, and no other text since. */
  bytes: v.optional(v.string()),
});

/** The text that one Neovim sent last: requests that are about it have only its id from then on. */
export class LastText {
  #last: { id: number; bytes: Uint8Array } | undefined;

  /**
   * A request with bytes in place of each text that was sent so, the same object for the same text.
   * Throws UserError.
   */
  resolve(value: unknown): unknown {
    if (value instanceof Uint8Array) return value;
    if (v.is(Sent, value)) return this.#take(value);
    if (Array.isArray(value)) return value.map((one) => this.resolve(one));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.resolve(one)]));
  }

  #take({ id, bytes }: v.InferOutput<typeof Sent>): Uint8Array {
    if (bytes !== undefined)
      this.#last = { id, bytes: new Uint8Array(Buffer.from(bytes, "base64")) };
    if (this.#last?.id === id) return this.#last.bytes;
    throw new UserError("the text of this buffer did not arrive: try again");
  }
}
