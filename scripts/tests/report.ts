/** The report of a test run. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileOutcome, Outcome } from "./run";

/** Files that take less time, in seconds, have no row. */
const ROW_SECONDS = 10;

export interface Counts {
  tests: number;
  passed: number;
  failed: number;
  skipped: number;
}

export function total(outcomes: Outcome[]): Counts {
  const counts: Counts = { tests: 0, passed: 0, failed: 0, skipped: 0 };
  for (const { files, failures } of outcomes) {
    const failed = sum(files, "failed");
    counts.tests += sum(files, "tests");
    counts.passed += sum(files, "tests") - failed - sum(files, "skipped");
    // Failures outside of tests count, too.
    counts.failed += Math.max(failed, failures.length);
    counts.skipped += sum(files, "skipped");
  }
  return counts;
}

/** Prints the reasons for tests that the platform cannot run. Returns the number of other skipped tests. */
export function unexplainedSkips(outcomes: Outcome[]): number {
  const file = join(process.env.CLAUDE_CODE_NVIM_TEST_RUN ?? "", "skips");
  const reasons = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  for (const [reason, all] of Map.groupBy(reasons, String))
    console.log(`${reason} (${all.length})`);
  return total(outcomes).skipped - reasons.length;
}

/** The workers' time by folder, and the longest files. */
export function printTimes(outcomes: Outcome[]): void {
  const all = outcomes.flatMap(({ files }) => files);
  const folders = Map.groupBy(all, ({ file }) => dirname(file));
  console.log("\n seconds  tests");
  for (const [folder, files] of [...folders].toSorted(([, a], [, b]) => bySeconds(a, b))) {
    row(files, folder);
  }
  console.log("\n seconds  tests");
  const long = all.filter(({ seconds }) => seconds >= ROW_SECONDS);
  for (const one of long.toSorted((a, b) => bySeconds([a], [b]))) row([one], one.file);
  const cpu = outcomes.reduce((seconds, outcome) => seconds + outcome.cpu, 0);
  row(all, `all, in ${cpu.toFixed(1)} s of processor time`);
}

const sum = (files: FileOutcome[], name: "seconds" | "tests" | "failed" | "skipped") =>
  files.reduce((total, file) => total + file[name], 0);

const bySeconds = (a: FileOutcome[], b: FileOutcome[]) => sum(b, "seconds") - sum(a, "seconds");

function row(files: FileOutcome[], name: string): void {
  const seconds = sum(files, "seconds").toFixed(1);
  console.log(`${seconds.padStart(8)} ${String(sum(files, "tests")).padStart(6)}  ${name}`);
}
