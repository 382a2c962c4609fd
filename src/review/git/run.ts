import { gitFolder } from "../../lib/git-folder";
import { ownChildren } from "../../lib/process";
import { onPath } from "../../lib/programs";

/**
 * A repository's own configuration may name programs, and a folder from the internet may bring such a
 * configuration: none of them is run. Hooks of the hooks folder, fsmonitor and submodules are off here,
 * what has a name of its own by `withoutNamed`, and nothing is fetched. If those cannot be turned off,
 * git is not run.
 */
const OFF = ["core.fsmonitor=false", "core.hooksPath=/dev/null"];
/** A copy of an index is written as one file, and nothing beside the repository's own. */
const WHOLE = ["core.splitIndex=false"];
/** By these a repository would say that a file has not changed which has. */
const TRUE = ["core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false"];
const FIXED = [...[...OFF, ...WHOLE, ...TRUE].flatMap((setting) => ["-c", setting]), "--no-pager"];

const ENVIRONMENT = {
  /** Read-only commands leave the index alone. */
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
};

/** The limit of a command that does not set its own. */
export const LIMITS = { ms: 2_000 };
/** The most of a command's output; a blob of 10 MB is the biggest thing that the review reads. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How long output is read after the end: a hook's process may keep the pipes open. */
const LEFT_MS = 1_000;
/** All commands of one piece of work of the server. */
const WORK_MS = 30_000;

export interface GitOptions {
  input?: string | Uint8Array;
  ms?: number;
  mostBytes?: number;
  /** An index of its own, for what is put together in it. */
  index?: string;
  env?: Record<string, string | undefined>;
}

export interface GitResult {
  code: number | null;
  /** Cut off at the limit, with the code null. */
  stdout: Buffer;
  /** Only of git as the user's own. */
  stderr: Buffer;
}

interface GitCommand extends GitOptions {
  args: readonly string[];
}

/** Yields commands and gets what they gave: the same for hooks, which wait for git, and the server. */
export type GitWork<T> = Generator<GitCommand, T, GitResult>;

/** One command as a piece of work. */
export function* command(args: readonly string[], options: GitOptions = {}): GitWork<GitResult> {
  return yield { args, ...options };
}

/** The trimmed output of a command; undefined if it fails. */
export function* outputOf(...args: string[]): GitWork<string | undefined> {
  const { code, stdout } = yield { args };
  return code === 0 ? stdout.toString().trim() : undefined;
}

/** Variables of git that the user's own git keeps, as in their shell. */
const USERS = /^GIT_(AUTHOR|COMMITTER|CONFIG)_/;
const NONE = Buffer.alloc(0);
const NOT_RUN: GitResult = { code: null, stdout: NONE, stderr: NONE };
/** The exit code of `git config` if no name matches. */
const NO_MATCH = 1;

/**
 * git in one work tree, for one piece of work: the repository may get another configuration afterwards.
 * Its own index is only read, but where an undo takes out what Claude has staged. A git that cannot be started,
 * or takes too long, has the code null.
 */
export class Git {
  /** Options that turn off the programs that the configuration names. */
  #off: Record<string, string> | undefined;

  private constructor(
    private readonly git: string,
    private readonly root: string,
    private readonly isUsers: boolean,
  ) {}

  /**
   * Undefined if there is no git. `isUsers`: as in the user's shell, with the filters and hooks of their
   * configuration, for what they ask git to do in a repository of theirs.
   */
  static in(root: string, isUsers = false): Git | undefined {
    const git = onPath("git").path;
    return git === undefined ? undefined : new Git(git, root, isUsers);
  }

  /** Does the work, and waits for each command: for the hooks. */
  wait<T>(work: GitWork<T>): T {
    const steps = this.#steps(work);
    let step = steps.next();
    while (!step.done) step = steps.next(runNow(step.value));
    return step.value;
  }

  /** Does the work in the background, with a deadline for all of it: for the server. */
  async run<T>(work: GitWork<T>, ms = WORK_MS): Promise<T> {
    const end = performance.now() + ms;
    const steps = this.#steps(work);
    let step = steps.next();
    while (!step.done) {
      const left = Math.min(step.value.ms, end - performance.now());
      step = steps.next(left > 0 ? await run({ ...step.value, ms: left }) : NOT_RUN);
    }
    return step.value;
  }

  /** The configuration's programs are looked up before the first command. */
  *#steps<T>(work: GitWork<T>): Generator<Spawn, T, GitResult> {
    let step = work.next();
    if (this.isUsers) this.#off = {};
    else if (!step.done) this.#off ??= yield* this.#withoutNamed();
    const off = this.#off;
    while (!step.done) {
      step = work.next(off ? yield this.#spawn(step.value, off) : NOT_RUN);
    }
    return step.value;
  }

  #spawn({ args, ...options }: GitCommand, config: Record<string, string>): Spawn {
    return {
      command: [this.git, ...(this.isUsers ? ["--no-pager"] : FIXED), "-C", this.root, ...args],
      input: Buffer.from(options.input ?? ""),
      env: {
        ...cleanEnvironment(this.isUsers),
        ...(!this.isUsers && { ...ENVIRONMENT, ...configEnvironment(config) }),
        // core.worktree must not lead it elsewhere.
        ...(!this.isUsers && gitFolder(this.root) && { GIT_WORK_TREE: this.root }),
        ...(options.index !== undefined && { GIT_INDEX_FILE: options.index }),
        ...options.env,
      },
      stderr: this.isUsers ? "pipe" : "ignore",
      ms: options.ms ?? LIMITS.ms,
      mostBytes: options.mostBytes ?? MAX_BYTES,
    };
  }

  /**
   * Every filter driver (LFS, git-crypt) as one that does nothing, and every hook of the configuration
   * (`hook.NAME.command`, git 2.54) as one that is off. Undefined if they are not all known, or have
   * a name that cannot stand in the environment, since it is not UTF-8.
   */
  *#withoutNamed(): Generator<Spawn, Record<string, string> | undefined, GitResult> {
    const args = ["config", "--null", "--name-only", "--get-regexp", "^(filter|hook)\\..*\\."];
    const { code, stdout } = yield this.#spawn({ args }, {});
    if (code !== 0 && code !== NO_MATCH) return undefined;
    const names = stdout.toString().split("\0").filter(Boolean);
    if (names.some((name) => name.includes("\uFFFD"))) return undefined;
    return Object.fromEntries(names.map(turnedOff));
  }
}

function turnedOff(name: string): [name: string, value: string] {
  if (name.startsWith("hook.")) return [name.replace(/\.[^.]*$/, ".enabled"), "false"];
  return [name, /\.required$/i.test(name) ? "false" : ""];
}

interface Spawn {
  command: string[];
  input: Buffer;
  env: Record<string, string | undefined>;
  stderr: "pipe" | "ignore";
  ms: number;
  mostBytes: number;
}

function runNow({ command, input, env, stderr, ms, mostBytes }: Spawn): GitResult {
  try {
    const child = Bun.spawnSync(command, {
      stdin: input,
      stdout: "pipe",
      stderr,
      env,
      timeout: ms,
      killSignal: "SIGKILL",
      maxBuffer: mostBytes,
    });
    const code = child.exitedDueToMaxBuffer ? null : child.exitCode;
    return { code, stdout: child.stdout, stderr: child.stderr ?? NONE };
  } catch {
    // E2BIG: a configuration with thousands of filter drivers.
    return NOT_RUN;
  }
}

async function run({ command, input, env, stderr, ms, mostBytes }: Spawn): Promise<GitResult> {
  try {
    const child = Bun.spawn(command, { stdin: input, stdout: "pipe", stderr, env });
    ownChildren.add(child.pid);
    let late: Timer | undefined;
    void child.exited.then(() => {
      ownChildren.delete(child.pid);
      late = setTimeout(stop, LEFT_MS);
    });
    let isTooMuch = false;
    const readers = [child.stdout, child.stderr].map((stream) => stream?.getReader());
    // Its children may keep the pipes open when it is killed.
    const stop = () => {
      child.kill("SIGKILL");
      for (const reader of readers) void reader?.cancel();
    };
    const timer = setTimeout(stop, ms);
    const [out = NONE, errors = NONE] = await Promise.all(
      readers.map(async (reader) => {
        const chunks: Uint8Array[] = [];
        let bytes = 0;
        for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
          chunks.push(next.value);
          bytes += next.value.length;
          isTooMuch ||= bytes > mostBytes;
          if (isTooMuch) stop();
        }
        return Buffer.concat(chunks);
      }),
    );
    await child.exited;
    clearTimeout(timer);
    clearTimeout(late);
    return { code: isTooMuch ? null : child.exitCode, stdout: out, stderr: errors };
  } catch {
    return NOT_RUN;
  }
}

/**
 * Claude may have been started by git itself, which leads its descendants to its own index. Its process id
 * would make this git one of its commands.
 */
function cleanEnvironment(isUsers: boolean): Record<string, string | undefined> {
  const isClean = (name: string) =>
    !/^(GIT_|CLAUDE_PID$)/.test(name) || (isUsers && USERS.test(name));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isClean(name)));
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
