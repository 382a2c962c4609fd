import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../support/toolchain";

test("scripts/bench-cursor prints what a movement costs on each Neovim", async () => {
  const child = Bun.spawn([join(ROOT, "scripts/bench-cursor")], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  expect(printed.match(/^Neovim [\d.]+: .* costs -?[\d.]+ µs more/gm)).toHaveLength(2);
});
