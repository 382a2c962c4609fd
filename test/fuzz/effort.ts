import { ALL } from "#test";

/**
 * How often a property is tried: a quarter as often in the run of each change as in `scripts/test --all`, and
 * with CLAUDE_CODE_NVIM_LONG=1 as often as fits into a night. A failure prints its seed and the smallest case;
 * the case then goes into the property's `examples`, which are tried first from then on.
 */
const FACTOR = process.env.CLAUDE_CODE_NVIM_LONG ? 200 : ALL ? 1 : 1 / 4;

export const tries = (usual: number) => Math.ceil(usual * FACTOR);

/** A whole night is longer than Bun's default time limit. */
export const FUZZ_TIMEOUT_MS = 60_000 * Math.max(FACTOR, 1);
