import { onPath } from "../../lib/programs";

/**
 * A repository's own configuration may name programs, and a folder from the internet may bring such a
 * configuration: none of them is run. Hooks, fsmonitor and submodules are off here, filter drivers by
 * `withoutFilters`, and nothing is fetched.
 */
const FIXED = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager"];

const ENVIRONMENT = {
  /** The index is only read. */
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
};

const QUICK_MS = 2_000;

interface GitOptions {
  input?: string;
  ms?: number;
  mostBytes?: number;
  /** An index of its own, for what is put together in it. */
  index?: string;
}

export interface GitResult {
  code: number | null;
  /** Cut off at the limit, with a code that is not 0. */
  stdout: Buffer;
}

/** git in one work tree. Its own index is only read. */
export class Git {
  readonly #git: string;
  readonly #root: string;
  #filters: Record<string, string> | undefined;

  private constructor(git: string, root: string) {
    this.#git = git;
    this.#root = root;
  }

  /** Undefined where there is no git. */
  static in(root: string): Git | undefined {
    const git = onPath("git").path;
    return git === undefined ? undefined : new Git(git, root);
  }

  /** Runs a command to its end. */
  run(args: readonly string[], options: GitOptions = {}): GitResult {
    return this.#spawn(args, options, this.#withoutFilters());
  }

  #spawn(args: readonly string[], options: GitOptions, config: Record<string, string>): GitResult {
    const child = Bun.spawnSync([this.#git, ...FIXED, "-C", this.#root, ...args], {
      stdin: Buffer.from(options.input ?? ""),
      stdout: "pipe",
      stderr: "ignore",
      env: {
        ...cleanEnvironment(),
        ...ENVIRONMENT,
        ...configEnvironment(config),
        ...(options.index !== undefined && { GIT_INDEX_FILE: options.index }),
      },
      timeout: options.ms ?? QUICK_MS,
      killSignal: "SIGKILL",
      ...(options.mostBytes && { maxBuffer: options.mostBytes }),
    });
    return { code: child.exitedDueToMaxBuffer ? null : child.exitCode, stdout: child.stdout };
  }

  /** Every filter driver (LFS, git-crypt) as one that does nothing. */
  #withoutFilters(): Record<string, string> {
    if (this.#filters) return this.#filters;
    const args = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
    const names = this.#spawn(args, {}, {}).stdout.toString().split("\0").filter(Boolean);
    const entries = names.map((name) => [name, /\.required$/i.test(name) ? "false" : ""]);
    this.#filters = Object.fromEntries(entries) as Record<string, string>;
    return this.#filters;
  }
}

/** Claude may have been started by git itself, which leads its descendants to its own index. */
function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")),
  );
}

/** git reads these since 2.31; a name may hold anything, so `-c` does not do. */
function configEnvironment(config: Record<string, string>): Record<string, string> {
  const entries = Object.entries(config);
  const pairs = entries.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(pairs) };
}
