/** Which test files run. */
import { join } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "../..");
/** Files of `scripts/test --all`, which sets the variable. */
const IN_ALL = ".all.test.ts";
const { CLAUDE_CODE_NVIM_TEST_ALL: ALL } = process.env;
/** Files about containers, which are namespaces of Linux. */
const IN_CONTAINERS = "test/genuine/remote";
/** Options of `bun test` whose value is the next argument. */
const WITH_VALUE = ["-t", "--test-name-pattern"];

export interface Selection {
  /** Paths in the repository. */
  readonly files: string[];
  /** For `bun test`. */
  readonly options: string[];
  /** True if all files are selected. */
  readonly whole: boolean;
  /** True if tests are selected by name. Bun then reports the others as skipped. */
  readonly named: boolean;
}

/** Separates options from parts of paths. A file is selected if its path contains one of the parts. */
export function select(args: string[]): Selection {
  const options: string[] = [];
  const parts: string[] = [];
  for (let n = 0; n < args.length; n++) {
    const arg = args[n] as string;
    if (WITH_VALUE.includes(arg)) options.push(arg, args[++n] ?? "");
    else if (arg.startsWith("-")) options.push(arg);
    else parts.push(arg.replace(/^\.\//, ""));
  }
  const files = [...new Glob("test/**/*.test.ts").scanSync({ cwd: ROOT })]
    .filter((file) => ALL || !file.endsWith(IN_ALL))
    .filter((file) => process.platform === "linux" || !file.startsWith(IN_CONTAINERS))
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
    .sort();
  const named = options.some((option) => /^(-t|--test-name-pattern)\b/.test(option));
  return { files, options, whole: args.length === 0, named };
}
