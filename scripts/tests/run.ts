/** Runs test files with several workers. Each takes the longest remaining file. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./network";

/** The default for tests and hooks, in ms. */
const TEST_MS = 60_000;
/** A file that takes longer, in ms, is killed. */
const RUN_MS = 3_600_000;
/** In ms after the end of the process: a program that it left behind may hold the pipe. */
const OUTPUT_MS = 1_000;
/** The time of each file, in ms, so that even a new clone starts with the long ones. */
const DURATIONS = join(import.meta.dir, "durations.json");
/** The order of shorter files does not matter. */
const MIN_SECONDS = 10;

/** Runs a program whose stdout and stderr are one pipe, which keeps their order. */
export const MERGED = ["sh", "-c", 'exec "$@" 2>&1', "sh"];

export interface Job {
  /** Paths in the repository. */
  readonly files: string[];
  /** For `bun test`. */
  readonly options: string[];
  readonly workers: number;
  readonly report: string;
  /** Prints the output at once. */
  readonly live: boolean;
  readonly place: Place;
}

export interface FileOutcome {
  readonly file: string;
  readonly tests: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
}

export interface Outcome {
  readonly files: FileOutcome[];
  /** The lines that name failed tests, and files that failed outside of a test. */
  readonly failures: string[];
  /** The seconds of processor time of the process, and of its children. */
  readonly cpu: number;
}

/** Runs test files to their end. */
export async function run({ files, options, workers, report, live, place }: Job): Promise<Outcome> {
  const bun = [process.execPath, "test", `--timeout=${TEST_MS}`, "--pass-with-no-tests"];
  // A worker keeps the modules it has loaded, and Neovims that the next file may use.
  const parallel = [`--parallel=${workers}`, "--no-isolate", `--timings=${DURATIONS}`];
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const what = [...options, ...files.map((file) => `./${file}`)];
  const child = Bun.spawn(
    [...MERGED, ...place.command, ...bun, ...parallel, ...reporter, ...what],
    {
      env: { ...process.env, ...place.env },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: RUN_MS,
      killSignal: "SIGKILL",
    },
  );
  let output = "";
  const decoder = new TextDecoder();
  const read = (async () => {
    for await (const chunk of child.stdout) {
      if (live) process.stdout.write(chunk);
      output += decoder.decode(chunk, { stream: true });
    }
  })();
  await child.exited;
  await Promise.race([read, Bun.sleep(OUTPUT_MS)]);
  if (!live) process.stdout.write(output);
  if (child.signalCode) console.log(`the tests were ended by ${child.signalCode}`);
  // With `-t`, files without a matching test do not fail.
  const none = /^error: regex .* matched 0 tests/m.test(output);
  const code = none ? 0 : (child.exitCode ?? 1);
  const counted = reported(report);
  // Bun repeats them at the end.
  const inTests = [...new Set(output.match(/^\(fail\) .*$/gm))];
  // Bun's report leaves out a file that does not load.
  const missing =
    none || counted.length === 0
      ? []
      : files.filter((file) => !counted.some((one) => one.file === file));
  const outside = missing.map((file) => `(fail) ${file}, outside of its tests`);
  if (code !== 0 && inTests.length + outside.length === 0)
    outside.push("(fail) outside of the tests");
  return {
    files: counted,
    failures: [...inTests, ...outside],
    cpu: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
  };
}

function reported(report: string): FileOutcome[] {
  if (!existsSync(report)) return [];
  const suites = readFileSync(report, "utf8").matchAll(
    /<testsuite name="([^"]*)" file="\1"([^>]*)/g,
  );
  return [...suites].map(([, file = "", attributes = ""]) => {
    const number = (name: string) =>
      Number(new RegExp(`\\b${name}="([\\d.]+)"`).exec(attributes)?.[1] ?? 0);
    return {
      file,
      tests: number("tests"),
      failed: number("failures"),
      skipped: number("skipped"),
      seconds: number("time"),
    };
  });
}

/** Keeps what a whole run has measured. */
export function saveDurations(files: FileOutcome[]): void {
  const long = files
    .filter(({ seconds }) => seconds >= MIN_SECONDS)
    .toSorted((a, b) => b.seconds - a.seconds)
    .map(({ file, seconds }) => [file, Math.round(seconds) * 1000]);
  const all = { version: 1, files: Object.fromEntries(long) };
  writeFileSync(DURATIONS, `${JSON.stringify(all, null, 2)}\n`);
}
