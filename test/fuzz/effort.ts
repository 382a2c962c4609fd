/**
 * How often a property is tried: as often as fits into a test run, or with CLAUDE_CODE_NVIM_LONG=1 as
 * often as fits into a night. A failure prints its seed and the smallest case; the case then goes
 * into the property's `examples`, which are tried first from then on.
 */
const FACTOR = process.env.CLAUDE_CODE_NVIM_LONG ? 200 : 1;

export const tries = (usual: number) => usual * FACTOR;

/** A whole night is longer than Bun waits by itself. */
export const FUZZ_TIMEOUT_MS = 60_000 * FACTOR;
