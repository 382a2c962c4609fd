import { UserError } from "../lib/errors";
import { isObject } from "../lib/json";

/**
 * More than Neovim counts on (lua/claude-code/editor/review/buffer_bytes.lua): the two need not agree which of
 * two texts came last.
 */
const MOST = 8;

interface Received {
  id: number;
  /** In base64; left out where they came with an earlier request. */
  bytes?: string;
}

/**
 * The texts of buffers that one Neovim had last. It sends the bytes of a text once, in the first of the
 * requests that are about it, and knows which of them are kept here.
 */
export class BufferTexts {
  readonly #byId = new Map<number, Uint8Array>();
  #lastId = 0;

  /**
   * The parameters of a request with bytes in place of each text, the same object for the same text.
   * Whatever has another shape is left as it is: the schema of the request refuses it. Throws UserError.
   */
  resolve(params: unknown): unknown {
    if (!isObject(params)) return params;
    const resolved = this.#withText(params);
    for (const list of ["files", "texts"]) {
      const files = resolved[list];
      if (Array.isArray(files)) {
        resolved[list] = files.map((file) => (isObject(file) ? this.#withText(file) : file));
      }
    }
    return resolved;
  }

  #withText(object: Record<string, unknown>): Record<string, unknown> {
    const { text } = object;
    return isReceived(text) ? { ...object, text: this.#take(text) } : { ...object };
  }

  #take({ id, bytes }: Received): Uint8Array {
    const known = this.#byId.get(id);
    if (bytes === undefined) {
      if (known) return known;
      throw new UserError("the text of this buffer did not arrive: try again");
    }
    const taken = new Uint8Array(Buffer.from(bytes, "base64"));
    this.#keep(id, taken);
    return taken;
  }

  /** Keeps a text that Neovim has made itself; returns its id, which is none of Neovim's. */
  put(bytes: Uint8Array): number {
    this.#lastId -= 1;
    this.#keep(this.#lastId, bytes);
    return this.#lastId;
  }

  #keep(id: number, bytes: Uint8Array): void {
    this.#byId.set(id, bytes);
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= MOST) break;
      this.#byId.delete(oldest);
    }
  }
}

function isReceived(text: unknown): text is Received {
  if (!isObject(text) || typeof text.id !== "number") return false;
  return text.bytes === undefined || typeof text.bytes === "string";
}
