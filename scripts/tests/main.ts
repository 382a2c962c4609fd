/**
 * Runs test files, each in a process of its own, as many at once as the processors have time for:
 * `bun scripts/tests/main.ts [option of bun test | part of a file's path]…`. scripts/test calls it,
 * in the environment that tests need. Writes "PASSED FAILED SKIPPED UNSTEADY" into the file that
 * $CLAUDE_CODE_NVIM_TEST_TOTALS names; UNSTEADY are those of the passed tests that failed at first.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { saveDurations } from "./durations";
import { network } from "./network";
import { runAll } from "./pool";
import { Processors } from "./processors";
import { failureLines, printTimes, total, unexplainedSkips } from "./report";
import { select } from "./selection";
import { type Outcome, runFile } from "./test-file";

/** Where tests of more files fail, something is broken: no second run says otherwise. */
const FILES_AGAIN = 3;

const { files, options, whole, named } = select(process.argv.slice(2));
const reports = mkdtempSync(join(tmpdir(), "reports-"));
const enter = network(files);
const run = async (file: string) => {
  const report = join(reports, `${file.replaceAll("/", "_")}.xml`);
  const live = files.length === 1;
  const outcome = await runFile({ file, options, report, live, enter });
  if (!live) process.stdout.write(outcome.output);
  return outcome;
};

const processors = new Processors();
const outcomes = await runAll(files, run);
const busy = processors.busy();
const counts = total(outcomes);
const skips = named ? 0 : unexplainedSkips(outcomes);
let unsteady = 0;
if (whole) unsteady = await again(outcomes);
printTimes(outcomes, busy);
if (counts.tests === (named ? counts.skipped : 0) && counts.failed === 0) {
  console.log("no test was selected");
  counts.failed += 1;
}
if (skips > 0) {
  console.log(`${skips} skipped without a 'platform skip:' reason`);
  counts.failed += 1;
}
if (whole && counts.failed === 0 && process.env.UPDATE_DURATIONS) saveDurations(outcomes);
for (const line of failureLines(outcomes)) console.log(line);
const passed = counts.passed + unsteady;
const totals = [passed, counts.failed - unsteady, counts.skipped, unsteady].join(" ");
const { CLAUDE_CODE_NVIM_TEST_TOTALS } = process.env;
if (CLAUDE_CODE_NVIM_TEST_TOTALS) writeFileSync(CLAUDE_CODE_NVIM_TEST_TOTALS, `${totals}\n`);

/**
 * Runs the few files again in which tests have failed, one after the other. Returns the number of
 * failures, if everything passes now; else 0.
 */
async function again(first: Outcome[]): Promise<number> {
  const failed = first.filter(({ code }) => code !== 0);
  // What fails outside of a test, like a file that does not load, has no second try.
  const inTests = failed.every(({ failures }) => failures.length > 0);
  if (failed.length === 0 || failed.length > FILES_AGAIN || !inTests) return 0;
  console.log(`\nagain: ${failed.map(({ file }) => file).join(" ")}`);
  for (const { file } of failed) if ((await run(file)).code !== 0) return 0;
  return total(failed).failed;
}
