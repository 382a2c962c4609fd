/** What a run of the tests says of itself. */
import { dirname } from "node:path";
import type { Outcome } from "./test-file";

/** Files with a row of their own have at least so many seconds, of either kind. */
const ROW_SECONDS = 15;

export interface Counts {
  tests: number;
  passed: number;
  failed: number;
  skipped: number;
}

export function total(outcomes: Outcome[]): Counts {
  const counts: Counts = { tests: 0, passed: 0, failed: 0, skipped: 0 };
  for (const { code, tests, failed, skipped } of outcomes) {
    counts.tests += tests;
    counts.passed += tests - failed - skipped;
    // Bun's own complaint counts, too: a file that does not load, an error outside a test.
    counts.failed += failed || (code === 0 ? 0 : 1);
    counts.skipped += skipped;
  }
  return counts;
}

/** What has failed, a line each: tests by their names, and files that fail in another way. */
export function failureLines(outcomes: Outcome[]): string[] {
  const lines = outcomes.flatMap(({ file, code, failures }) =>
    code !== 0 && failures.length === 0 ? [`(fail) ${file}, outside of its tests`] : failures,
  );
  return [...new Set(lines)];
}

/** Skipped tests without a line that says why. */
export function unexplainedSkips(outcomes: Outcome[]): number {
  const reasons = outcomes.flatMap(({ output }) => output.match(/^platform skip:/gm) ?? []);
  return total(outcomes).skipped - reasons.length;
}

/** Where the time went: by folder, and the longest files. */
export function printTimes(outcomes: Outcome[], busy: number): void {
  const folders = Map.groupBy(outcomes, ({ file }) => dirname(file));
  console.log("\n seconds  processor  tests");
  for (const [folder, files] of [...folders].toSorted(([, a], [, b]) => bySeconds(a, b))) {
    row(files, folder);
  }
  console.log("\n seconds  processor  tests");
  const long = outcomes.filter(({ seconds, cpu }) => Math.max(seconds, cpu) >= ROW_SECONDS);
  for (const one of long.toSorted((a, b) => bySeconds([a], [b]))) row([one], one.file);
  row(outcomes, `all; the processors were busy for ${Math.round(busy * 100)} % of the time`);
}

const sum = (files: Outcome[], name: "seconds" | "cpu" | "tests") =>
  files.reduce((total, file) => total + file[name], 0);

const bySeconds = (a: Outcome[], b: Outcome[]) => sum(b, "seconds") - sum(a, "seconds");

function row(files: Outcome[], name: string): void {
  const [seconds, cpu] = [sum(files, "seconds").toFixed(1), sum(files, "cpu").toFixed(1)];
  const tests = String(sum(files, "tests"));
  console.log(`${seconds.padStart(8)} ${cpu.padStart(10)} ${tests.padStart(6)}  ${name}`);
}
