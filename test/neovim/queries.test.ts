import { expect, test } from "bun:test";
import { EditorBusyError } from "../../src/editor/port";
import { checked } from "../../src/neovim/editor";
import { outcomeOf } from "../support/outcome";

const UNKNOWN = -1;

test("sizes that are never known are an error, not numbers", async () => {
  let calls = 0;
  // A buffer that changes all the time. Neovim itself would need ten seconds to be given up.
  const sizes = checked("buffer_sizes", async () => {
    calls++;
    return [12, UNKNOWN];
  });
  expect(await outcomeOf(sizes)).toThrow(EditorBusyError);
  expect(calls).toBe(1_000);
});
