import { gitFolder } from "../../lib/git-folder";
import { ownChildren } from "../../lib/process";
import { onPath } from "../../lib/programs";

/**
 * A repository's configuration may name programs, and a folder from the internet may contain such a configuration. We
 * never run these programs: here we turn off fsmonitor and the hooks folder, and in `withoutNamed` filters and hooks
 * with names. We fetch nothing. If we cannot turn the programs off, we do not run git.
 */
const OFF = ["core.fsmonitor=false", "core.hooksPath=/dev/null"];
/** Keeps git from writing a shared index beside the repository's index. */
const WHOLE = ["core.splitIndex=false"];
/** Keeps a repository from hiding changes of files. */
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

/** The default limit of a command. */
export const LIMITS = { ms: 2_000 };
/** The limit of a command's output. The largest output that the review reads is a blob of 10 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
/** After git has ended we read its output for this long at most, because a hook's process may keep the pipes open. */
const LEFT_MS = 1_000;
/** The limit of all commands of one GitWork in the server. */
const WORK_MS = 30_000;

export interface GitOptions {
  input?: string | Uint8Array;
  ms?: number;
  mostBytes?: number;
  /** An index other than the repository's. */
  index?: string;
  env?: Record<string, string | undefined>;
}

export interface GitResult {
  code: number | null;
  /** If cut off at the limit, `code` is null. */
  stdout: Buffer;
  /** Empty unless git runs as the user's. */
  stderr: Buffer;
}

interface GitCommand extends GitOptions {
  args: readonly string[];
}

/** Yields commands and receives their results. Hooks run it synchronously, the server asynchronously. */
export type GitWork<T> = Generator<GitCommand, T, GitResult>;

export function* command(args: readonly string[], options: GitOptions = {}): GitWork<GitResult> {
  return yield { args, ...options };
}

/** The trimmed output of a command; undefined if it fails. */
export function* outputOf(...args: string[]): GitWork<string | undefined> {
  const { code, stdout } = yield { args };
  return code === 0 ? stdout.toString().trim() : undefined;
}

/** The user's git keeps these variables. */
const USERS = /^GIT_(AUTHOR|COMMITTER|CONFIG)_/;
const NONE = Buffer.alloc(0);
const NOT_RUN: GitResult = { code: null, stdout: NONE, stderr: NONE };

/**
 * Runs git in one work tree. Create one for each GitWork, because the configuration may change afterwards. Only an undo
 * of staged changes writes the repository's index. If git cannot be started or takes too long, the code is null.
 */
export class Git {
  /** Settings that turn off the programs that the configuration names. */
  #off: Record<string, string> | undefined;

  private constructor(
    private readonly git: string,
    private readonly root: string,
    private readonly isUsers: boolean,
  ) {}

  /**
   * Undefined if git is not installed. With `isUsers`, git runs as in the user's shell, with the filters and hooks of the
   * configuration: use it only for commands that the user asked for.
   */
  static in(root: string, isUsers = false): Git | undefined {
    const git = onPath("git").path;
    return git === undefined ? undefined : new Git(git, root, isUsers);
  }

  /** Does the work synchronously, for hooks. */
  wait<T>(work: GitWork<T>): T {
    const steps = this.#steps(work);
    let step = steps.next();
    while (!step.done) step = steps.next(runNow(step.value));
    return step.value;
  }

  /** Does the work asynchronously, for the server, with a deadline for the whole. */
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

  /** Looks up the configuration's programs before the first command. */
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
        // Overrides core.worktree.
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
   * Settings that turn off every filter driver (LFS, git-crypt) and every hook of the configuration (`hook.NAME.command`,
   * git 2.54). Undefined if git cannot list them, or if a name is not UTF-8, which the environment cannot hold.
   */
  *#withoutNamed(): Generator<Spawn, Record<string, string> | undefined, GitResult> {
    const args = ["config", "--null", "--name-only", "--get-regexp", "^(filter|hook)\\..*\\."];
    const { code, stdout } = yield this.#spawn({ args }, {});
    // With exit code 1, no name matches.
    if (code !== 0 && code !== 1) return undefined;
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
    // For example E2BIG, with thousands of filter drivers.
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
    // After the kill, git's children may keep the pipes open.
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
 * Removes variables that mislead git: if git itself started Claude, they name another index. Also removes Claude's
 * process id, by which this git would count as one of Claude's commands.
 */
function cleanEnvironment(isUsers: boolean): Record<string, string | undefined> {
  const isClean = (name: string) =>
    !/^(GIT_|CLAUDE_PID$)/.test(name) || (isUsers && USERS.test(name));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isClean(name)));
}

/** git reads these variables since 2.31. `-c` does not work, because a name may contain any character. */
function configEnvironment(config: Record<string, string>): Record<string, string> {
  const entries = Object.entries(config);
  const pairs = entries.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(pairs) };
}
