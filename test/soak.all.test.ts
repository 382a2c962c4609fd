import { expect, test } from "bun:test";
import { BOUNDED, leftBehind, soak } from "../bench/soak/soak";
import { NEOVIMS } from "./support/neovim";

/** `scripts/soak --full` does many times as much. */
test("after a lot of traffic everything is as it was", async () => {
  // Both at once: much of the time is waiting for the last timers.
  const results = await Promise.all(
    NEOVIMS.map(async (version) => ({ version, result: await soak(version, BOUNDED) })),
  );
  for (const { version, result } of results) {
    process.stdout.write(
      `soak: ${version.name}: ${JSON.stringify(BOUNDED)} in ${result.seconds.toFixed(0)} s\n`,
    );
    expect(leftBehind(result), version.name).toEqual([]);
  }
}, 300_000);
