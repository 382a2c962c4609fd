import { setDefaultTimeout } from "bun:test";

/** The limit of a test of the genuine CLI, which takes seconds to start, on a busy machine. */
export const CASE_MS = 120_000;

/**
 * The genuine CLI must not be able to reach the internet:
 * `scripts/test` runs test/genuine in a network namespace that holds nothing but loopback, with the
 * stand-in model, Neovim and our executable. Throws where the tests were started without it, and gives each
 * test of the file the time that a CLI takes.
 */
export function requireNamespace(): void {
  setDefaultTimeout(CASE_MS);
  if (process.env.CLAUDE_CODE_NVIM_TEST_NETWORK) return;
  throw new Error("The tests of the genuine CLI need a network of their own: scripts/test --fast");
}
