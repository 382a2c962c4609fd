import { test } from "bun:test";
import { platformSkip } from "../../test/support/platform-skip";
import { fetchPlugins } from "./archives";

const missing = fetchPlugins();

/** A test that needs plugins of others: skipped, with the reason, where there are none. */
export function testWithPlugins(name: string, run: () => Promise<void>): void {
  if (missing) platformSkip(missing);
  test.skipIf(missing !== undefined)(name, run);
}
