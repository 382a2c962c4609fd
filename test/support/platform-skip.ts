import { appendFileSync } from "node:fs";
import { join } from "../../src/lib/platform";

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
