/**
 * `bun scripts/tests/main.ts [option of bun test | part of a file's path]…` runs test files. scripts/test calls it with
 * the environment that tests need. Writes "PASSED FAILED SKIPPED" into the file $CLAUDE_CODE_NVIM_TEST_TOTALS.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { HERE, loopback, type Place } from "./network";
import { printTimes, total, unexplainedSkips } from "./report";
import { type Outcome, run, saveDurations } from "./run";
import { select } from "./selection";

/** Workers for each processor: most tests wait for an editor, a server or a terminal. */
const [FOR_OTHERS, FOR_GENUINE] = [1.5, 0.5];

const { files, options, whole, named } = select(process.argv.slice(2));
const reports = mkdtempSync(join(tmpdir(), "reports-"));
const genuine = files.filter((file) => file.startsWith("test/genuine/"));
const others = files.filter((file) => !genuine.includes(file));

const outcomes = await both();
const counts = total(outcomes);
const skips = named ? 0 : unexplainedSkips(outcomes);
printTimes(outcomes);
if (counts.tests === (named ? counts.skipped : 0) && counts.failed === 0) {
  console.log("no test was selected");
  counts.failed += 1;
}
if (skips > 0) {
  console.log(`${skips} skipped without a 'platform skip:' reason`);
  counts.failed += 1;
}
if (whole && counts.failed === 0 && process.env.UPDATE_DURATIONS)
  saveDurations(outcomes.flatMap(({ files }) => files));
for (const line of outcomes.flatMap(({ failures }) => failures)) console.log(line);
const totals = [counts.passed, counts.failed, counts.skipped].join(" ");
const { CLAUDE_CODE_NVIM_TEST_TOTALS } = process.env;
if (CLAUDE_CODE_NVIM_TEST_TOTALS) writeFileSync(CLAUDE_CODE_NVIM_TEST_TOTALS, `${totals}\n`);

/**
 * Runs the tests of the genuine CLI in a separate network, beside the others. Prints the output of the others first.
 */
async function both(): Promise<Outcome[]> {
  const start = (files: string[], each: number, live: boolean, place: Place) => {
    const workers = Math.ceil(each * availableParallelism());
    const report = join(reports, `${place === HERE ? "others" : "genuine"}.xml`);
    return run({ files, options, workers, report, live, place });
  };
  const all = [];
  if (others.length > 0) all.push(start(others, FOR_OTHERS, true, HERE));
  if (genuine.length > 0) all.push(start(genuine, FOR_GENUINE, others.length === 0, loopback()));
  return await Promise.all(all);
}
