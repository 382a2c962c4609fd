import { expect, test } from "bun:test";
import { appendFileSync, statSync } from "node:fs";
import { IS_WINDOWS, join } from "../../src/lib/platform";

/** Features that Windows lacks, or gives to administrators alone, as tests use them. */
type UnixFeature =
  | "a shell"
  | "any bytes in a name"
  | "FIFOs"
  | "modes of files"
  | "signals"
  | "sockets in folders"
  | "symlinks";

/**
 * Says why this platform cannot run a test, each time one is skipped or ends early: scripts/test prints it, and
 * fails if more are skipped. It writes to a file, because `bun test --parallel` loses some of what its workers print.
 */
export function platformSkip(reason: string): void {
  const { CLAUDE_CODE_NVIM_TEST_RUN: folder } = process.env;
  const line = `platform skip: ${reason}\n`;
  if (folder) appendFileSync(join(folder, "skips"), line);
  else process.stdout.write(line);
}

/** Whether this is Windows, where a part of a test cannot run; says so. */
export function lacks(feature: UnixFeature): boolean {
  if (IS_WINDOWS) platformSkip(`Windows lacks ${feature}`);
  return IS_WINDOWS;
}

/** Takes the place of `test` for what needs this feature: on Windows it only says so. */
export function needs(feature: UnixFeature): typeof test {
  if (!IS_WINDOWS) return test;
  const says = (name: string) => test(name, () => void lacks(feature));
  return Object.assign(says, { each: () => says }) as unknown as typeof test;
}

export function expectMode(path: string, mode: number): void {
  if (!lacks("modes of files")) expect(statSync(path).mode & 0o777).toBe(mode);
}
