/** durations.json: how long the long test files take, so that a new clone, too, starts with them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "./test-file";

const FILE = join(import.meta.dir, "durations.json");
/** What is shorter fits in anywhere. */
const LEAST_SECONDS = 5;

/** Seconds by the file's path. */
export function durations(): Record<string, number> {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/** Keeps what a whole run has measured. */
export function saveDurations(outcomes: Outcome[]): void {
  const long = outcomes
    .filter(({ seconds }) => seconds >= LEAST_SECONDS)
    .toSorted((a, b) => b.seconds - a.seconds)
    .map(({ file, seconds }) => [file, Math.round(seconds)]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`);
}
