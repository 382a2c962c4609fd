/**
 * Tries one of the review's properties for as long as there is time, and shrinks what fails:
 * `bun test/review/state/long.ts whose|session|keep|undo|decided SEED MINUTES`.
 */
import fc from "fast-check";
import { decided } from "./decisions";
import { PROPERTIES, type Property, played } from "./properties";

const [name = "", seed, minutes] = process.argv.slice(2);
const known = (PROPERTIES as Readonly<Record<string, Property>>)[name];
const property = name === "decided" ? decided(30) : known && played(known, 30);
if (!property || !Number(minutes)) {
  console.error(`long.ts ${Object.keys(PROPERTIES).join("|")}|decided SEED MINUTES`);
  process.exit(2);
}
const found = await fc.check<unknown>(property, {
  seed: Number(seed),
  numRuns: Number.MAX_SAFE_INTEGER,
  interruptAfterTimeLimit: Number(minutes) * 60_000,
});
console.log(`${name}, seed ${seed}: ${found.numRuns} runs`);
if (found.failed) {
  console.log(fc.defaultReportMessage(found), `\n\n${found.errorInstance}`);
  process.exit(1);
}
