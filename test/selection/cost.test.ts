import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../support/neovim";

/** What a movement may cost beyond an empty autocommand, in µs. It takes about a tenth of a µs. */
const LIMIT_US = 2;

test("following the cursor costs next to nothing in each Neovim", async () => {
  const child = Bun.spawn([join(ROOT, "scripts/bench-cursor")], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  const costs = [...printed.matchAll(/^Neovim [\d.]+: .* costs (-?[\d.]+) µs more/gm)];
  expect(costs).toHaveLength(2);
  for (const [line, cost] of costs) expect(Number(cost), line).toBeLessThan(LIMIT_US);
});
