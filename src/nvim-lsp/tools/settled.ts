import type { Problems } from "../../editor/problems";

/** Language servers get so long to look at what was just written. */
const DEADLINE_MS = 1_500;
const STEP_MS = 50;

/** Asks until all reports are in, or the deadline is over: then what there is counts. */
export async function settled(ask: () => Promise<Problems>): Promise<Problems> {
  const end = performance.now() + DEADLINE_MS;
  for (;;) {
    const problems = await ask();
    if (problems.files.every((file) => file.settled) || performance.now() > end) return problems;
    await Bun.sleep(STEP_MS);
  }
}
