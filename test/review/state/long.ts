/**
 * Tries one of the review's properties for as long as there is time, and shrinks what fails:
 * `bun test/review/state/long.ts whose|session|keep|undo SEED MINUTES`.
 */
import fc from "fast-check";
import { PROPERTIES, played } from "./properties";

const [name = "", seed, minutes] = process.argv.slice(2);
const property = PROPERTIES[name];
if (!property || !Number(minutes)) {
  console.error(`long.ts ${Object.keys(PROPERTIES).join("|")} SEED MINUTES`);
  process.exit(2);
}
const found = await fc.check(played(property, 30), {
  seed: Number(seed),
  numRuns: Number.MAX_SAFE_INTEGER,
  interruptAfterTimeLimit: Number(minutes) * 60_000,
});
console.log(`${name}, seed ${seed}: ${found.numRuns} runs`);
if (found.failed) {
  console.log(fc.defaultReportMessage(found), `\n\n${found.errorInstance}`);
  process.exit(1);
}
