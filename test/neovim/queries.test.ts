import { expect, test } from "bun:test";
import { EditorBusyError } from "../../src/editor/port";
import { Queries } from "../../src/neovim/queries";

const UNKNOWN = -1;

/** A buffer that changes all the time. Neovim itself would need ten seconds to be given up. */
class Restless extends Queries {
  asked = 0;

  override async call(): Promise<unknown> {
    this.asked++;
    return [12, UNKNOWN];
  }
}

test("sizes that are never known are an error, not numbers", async () => {
  const queries = new Restless();
  await expect(queries.bufferSizes([1, 2])).rejects.toThrow(EditorBusyError);
  expect(queries.asked).toBe(1_000);
});
