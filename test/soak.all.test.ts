import { NEOVIMS } from "#test";
import { leftBehind, soak } from "../bench/soak/soak";

/** With CLAUDE_CODE_NVIM_LONG=1 an hour's worth. */
const TIMES = process.env.CLAUDE_CODE_NVIM_LONG ? 40 : 1;

test(
  "after a lot of traffic everything is as it was",
  async () => {
    // Both at once: much of the time is waiting for the last timers.
    const results = await Promise.all(
      NEOVIMS.map(async (version) => ({ version, result: await soak(version, TIMES) })),
    );
    for (const { version, result } of results) {
      expect(leftBehind(result), version.name).toEqual([]);
    }
  },
  300_000 * TIMES,
);
