import { onPath } from "../../lib/programs";

/**
 * A repository's own configuration may name programs, and a folder from the internet may bring such a
 * configuration: none of them is run. Hooks, fsmonitor and submodules are off here, filter drivers by
 * `withoutFilters`, and nothing is fetched. Where those cannot be turned off, git is not run.
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

const NOT_RUN: GitResult = { code: null, stdout: Buffer.alloc(0) };
/** What `git config` ends with where no name matches. */
const NO_MATCH = 1;

/**
 * git in one work tree, for one piece of work: the repository may get another configuration afterwards.
 * Its own index is only read.
 */
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

  /** Runs a command to its end. A git that cannot be started has the code null. */
  run(args: readonly string[], options: GitOptions = {}): GitResult {
    this.#filters ??= this.#withoutFilters();
    return this.#filters ? this.#spawn(args, options, this.#filters) : NOT_RUN;
  }

  #spawn(args: readonly string[], options: GitOptions, config: Record<string, string>): GitResult {
    try {
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
    } catch {
      // E2BIG: a configuration with thousands of filter drivers.
      return NOT_RUN;
    }
  }

  /**
   * Every filter driver (LFS, git-crypt) as one that does nothing. Undefined where they are not all
   * known, or have a name that cannot stand in the environment, since it is not UTF-8.
   */
  #withoutFilters(): Record<string, string> | undefined {
    const args = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
    const { code, stdout } = this.#spawn(args, {}, {});
    if (code !== 0 && code !== NO_MATCH) return undefined;
    const names = stdout.toString().split("\0").filter(Boolean);
    if (names.some((name) => name.includes("\uFFFD"))) return undefined;
    return Object.fromEntries(
      names.map((name) => [name, /\.required$/i.test(name) ? "false" : ""]),
    );
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
