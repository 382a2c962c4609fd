import { expect, test } from "bun:test";
import { EditorBusyError } from "../../src/editor/port";
import { Queries } from "../../src/neovim/queries";
import { outcomeOf } from "../support/outcome";

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
  expect(await outcomeOf(queries.bufferSizes([1, 2]))).toThrow(EditorBusyError);
  expect(queries.asked).toBe(1_000);
});
