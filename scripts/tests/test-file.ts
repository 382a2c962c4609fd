import { existsSync, readFileSync } from "node:fs";
import type { Network } from "./network";

/** For a test or hook that does not say otherwise. */
const TEST_MS = 60_000;
/** What takes longer hangs. */
const FILE_MS = 600_000;
/** What the last output of a file may take after its process: a program it left may hold the pipe. */
const OUTPUT_MS = 1_000;

export interface Job {
  /** The file's path in the repository. */
  readonly file: string;
  /** For `bun test`. */
  readonly options: string[];
  /** Where the report goes. */
  readonly report: string;
  /** Prints what comes as it comes. */
  readonly live: boolean;
  readonly enter: Network;
}

export interface Outcome {
  readonly file: string;
  readonly code: number;
  readonly output: string;
  /** The lines that name failed tests. */
  readonly failures: string[];
  readonly tests: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** Seconds of processor time: of the process, and of all below it that were waited for. */
  readonly cpu: number;
}

/** Runs one test file to its end. */
export async function runFile({ file, options, report, live, enter }: Job): Promise<Outcome> {
  const start = performance.now();
  const { command, env } = enter(file);
  const bun = [process.execPath, "test", `--timeout=${TEST_MS}`, "--pass-with-no-tests"];
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  // Results are on stderr, and what tests print on stdout: in one pipe they keep their order.
  const merged = ["sh", "-c", 'exec "$@" 2>&1', "sh"];
  const child = Bun.spawn([...merged, ...command, ...bun, ...reporter, ...options, `./${file}`], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: FILE_MS,
    killSignal: "SIGKILL",
  });
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
  const seconds = (performance.now() - start) / 1000;
  if (child.signalCode)
    output += `${file}: ended by ${child.signalCode} after ${seconds.toFixed(1)} s\n`;
  return {
    ...counted(file, report, output),
    // With `-t` a file without such a test is none that fails.
    code: /^error: regex .* matched 0 tests/m.test(output) ? 0 : (child.exitCode ?? 1),
    output,
    seconds,
    cpu: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
  };
}

function counted(file: string, report: string, output: string) {
  const [, head = ""] =
    /<testsuites ([^>]*)>/.exec(existsSync(report) ? readFileSync(report, "utf8") : "") ?? [];
  const number = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  return {
    file,
    tests: number("tests"),
    failed: number("failures"),
    skipped: number("skipped"),
    failures: output.split("\n").filter((line) => line.startsWith("(fail)")),
  };
}
