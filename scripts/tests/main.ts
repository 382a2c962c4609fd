/**
 * `bun scripts/tests/main.ts [--fast | --checks] [option of bun test | part of a file's path]…` runs the checks and the
 * tests. scripts/test calls it with the environment that they need.
 */
import { mkdtempSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Glob } from "bun";
import { HERE, loopback, type Place } from "./network";
import { printTimes, total, unexplainedSkips } from "./report";
import { MERGED, type Outcome, run, saveDurations } from "./run";
import { select } from "./selection";

/** Workers for each processor: most tests wait for an editor, a server or a terminal. */
const [FOR_OTHERS, FOR_GENUINE] = [1.5, 0.5];
const LUA = ["lua", "plugin", "test", "bench", "scripts"];

const [first, ...rest] = process.argv.slice(2);
const args = first === "--fast" || first === "--checks" ? rest : process.argv.slice(2);
const done = { passed: 0, failed: 0, skipped: 0 };

if (first !== "--fast") await checks();
if (first !== "--checks" && (await step("build", "bun", "run", "--silent", "build"))) await tests();
const skipped = done.skipped > 0 ? `, ${done.skipped} skipped` : "";
console.log(`\n${done.passed} passed, ${done.failed} failed${skipped}`);
process.exit(done.failed > 0 ? 1 : 0);

async function checks(): Promise<void> {
  // The slow one runs beside the others.
  const types = begin("types", "tsc", "--noEmit");
  await step("biome", "biome", "check", "--error-on-warnings");
  await step("import rules", "bun", "scripts/check-imports.ts");
  await step("file sizes", "bun", "scripts/check-files.ts");
  await step("programs", "bun", "scripts/check-programs.ts");
  await step("class names", "bun", "scripts/check-classes.ts");
  await step("words", "bun", "scripts/check-words.ts");
  await step("stylua", "stylua", "--check", ...LUA);
  await step("luacheck", "luacheck", "--quiet", ...LUA);
  // SC2317 takes functions that are passed by name for dead code.
  await step("shellcheck", "shellcheck", "--exclude=SC2317", ...shellFiles());
  await types();
}

async function step(name: string, ...command: string[]): Promise<boolean> {
  return begin(name, ...command)();
}

/** Starts a step. The function waits for its end, and prints a line if it passed, or else all of its output. */
function begin(name: string, ...command: string[]): () => Promise<boolean> {
  const start = performance.now();
  const child = Bun.spawn([...MERGED, ...command], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = Promise.all([child.stdout.text(), child.exited, child.exited.then(sinceStart)]);
  function sinceStart(): string {
    return `${((performance.now() - start) / 1000).toFixed(1)} s`;
  }
  return async () => {
    const [output, code, seconds] = await ended;
    const passed = code === 0;
    console.log(`${passed ? "ok   " : "FAIL "} ${name} (${seconds})`);
    const lines = output.split("\n").filter((line) => !passed || line.startsWith("budget: "));
    for (const line of lines) console.log(passed ? line : `      ${line}`);
    done[passed ? "passed" : "failed"] += 1;
    return passed;
  };
}

/** Programs without an extension, which are scripts. */
function shellFiles(): string[] {
  const files = [...new Glob("{scripts,.ci,test,bench}/**/*").scanSync({ dot: true })];
  return ["install.sh", ...files.filter((file) => !basename(file).includes(".")).sort()];
}

async function tests(): Promise<void> {
  const start = performance.now();
  const { files, options, whole, named } = select(args);
  const outcomes = await both(files, options);
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
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${counts.failed > 0 ? "FAIL " : "ok   "} tests (${seconds} s)`);
  done.passed += counts.passed;
  done.failed += counts.failed;
  done.skipped = counts.skipped;
}

/**
 * Runs the tests of the genuine CLI in a separate network, beside the others. Prints the output of the others first.
 */
async function both(files: string[], options: string[]): Promise<Outcome[]> {
  const reports = mkdtempSync(join(tmpdir(), "reports-"));
  const genuine = files.filter((file) => file.startsWith("test/genuine/"));
  const others = files.filter((file) => !genuine.includes(file));
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
