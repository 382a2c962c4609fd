import { existsSync } from "node:fs";
import { homedir } from "node:os";
import * as v from "valibot";
import defaults from "../../../lua/claude-code/editor/privacy/defaults.lua" with { type: "text" };
import { writePrivateFile } from "../../lib/atomic-write";
import { own, readPrivateJson } from "../../lib/json";
import { waitForLock } from "../../lib/lock";
import { isUnshared, realPath, sharedFolders, stateFolder } from "../../lib/paths";
import { basename, join } from "../../lib/platform";
import { isAlive } from "../../lib/process";

/** Hooks use the plugin's list until a Neovim has run. */
export const PRIVATE_BY_DEFAULT: readonly string[] = [...defaults.matchAll(/^ {2}"(.+)",$/gm)].map(
  ([, pattern]) => pattern as string,
);

interface Rule {
  globs: readonly Bun.Glob[];
  /** Whether it matches whole paths rather than names. */
  whole: boolean;
  /** `!pattern` */
  isException: boolean;
}

const Patterns = v.array(v.string());
/** The patterns of each running Neovim by its address, and the last patterns, for hooks without a Neovim. */
const Kept = v.object({ last: Patterns, of: v.record(v.string(), Patterns) });
type Kept = v.InferOutput<typeof Kept>;

function patternsFile(): string {
  return join(stateFolder(), "privacy.json");
}

/** Longer than a Neovim needs to write its patterns. */
const LOCK_MS = 5_000;
/** The patterns of the latest call. An earlier call that waits for the lock writes these, too. */
let latest: string[] = [];

/** Stores the options `privacy.*` of the Neovim at $NVIM for hooks. Throws the system's error. */
export async function keepPrivatePatterns(options: {
  defaults: boolean;
  patterns: readonly string[];
}): Promise<undefined> {
  latest = [...(options.defaults ? PRIVATE_BY_DEFAULT : []), ...options.patterns];
  if (Bun.deepEquals(readKept(), withLatest())) return;
  using _lock = await waitForLock(`${patternsFile()}.lock`, LOCK_MS);
  writePrivateFile(patternsFile(), JSON.stringify(withLatest()));
}

function withLatest(): Kept {
  const others = Object.entries(readKept()?.of ?? {}).filter(([address]) => mayServe(address));
  const of = { ...Object.fromEntries(others), [process.env.NVIM ?? ""]: latest };
  return { last: latest, of };
}

/** A named pipe has no file to ask for; by default its name has the process of Neovim. */
function mayServe(address: string): boolean {
  const [, name] = /^\\\\\.\\pipe\\(.*)/.exec(address) ?? [];
  if (name === undefined) return existsSync(address);
  const [, pid] = /^nvim\.(\d+)\./.exec(name) ?? [];
  return pid === undefined || isAlive(Number(pid));
}

/** The globs of the option `privacy.patterns` or `review.ignore`. */
export class PathPatterns {
  readonly #rules: readonly Rule[];

  constructor(patterns: readonly string[]) {
    this.#rules = patterns.map(compileRule);
  }

  /** `path` is absolute. */
  matches(path: string): boolean {
    if (this.#rules.length === 0) return false;
    const whole = folded(path.replaceAll("\\", "/"));
    const name = basename(whole);
    const last = this.#rules.findLast(({ globs, whole: isWhole }) =>
      globs.some((glob) => glob.match(isWhole ? whole : name)),
    );
    return last !== undefined && !last.isException;
  }
}

/**
 * Knows the files that Neovim's options `privacy.*` hide from Claude, by the rules of lua/claude-code/editor/privacy. We
 * record only that such a file changed.
 */
export class Privacy {
  readonly #patterns: PathPatterns;
  readonly #shared = sharedFolders();

  constructor(patterns: readonly string[] = readPatterns() ?? PRIVATE_BY_DEFAULT) {
    this.#patterns = new PathPatterns(patterns);
  }

  /** `path` is absolute. A symlink is as private as its target. */
  isPrivate(path: string): boolean {
    if (this.#patterns.matches(path)) return true;
    const real = realPath(path);
    return (real !== path && this.#patterns.matches(real)) || isUnshared(real, this.#shared);
  }
}

/**
 * Removes case, accents and invisible characters (U+200B to U+200F): on many systems `.ENV` and `.env` are one file,
 * and so are the composed and the decomposed `ü`.
 */
function folded(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/\p{M}|[\u200b-\u200f]/gu, "")
    .toLowerCase();
}

function compileRule(pattern: string): Rule {
  const isException = pattern.startsWith("!");
  let text = isException ? pattern.slice(1) : pattern;
  const whole = text.includes("/");
  if (text.startsWith("~/")) text = homedir().replaceAll("\\", "/") + text.slice(1);
  else if (whole && !text.startsWith("/") && !/^[a-z]:\//i.test(text)) text = `**/${text}`;
  return { globs: compileGlob(folded(text)), whole, isException };
}

/**
 * Matches like lua/claude-code/editor/privacy/glob.lua: `folder/**` matches the folder as well. Escapes `\` and a first
 * `!`, which have a meaning only in Bun.
 */
function compileGlob(text: string): Bun.Glob[] {
  const glob = text.replaceAll("\\", "\\\\").replace(/^!/, "\\!");
  const folder = glob.replace(/(\/\*\*)+$/, "");
  return [...new Set([glob, folder])].map((one) => new Bun.Glob(one));
}

/** The current patterns of the Neovim that we run in. */
function readPatterns(): string[] | undefined {
  const kept = readKept();
  return kept && (own(kept.of, process.env.NVIM ?? "") ?? kept.last);
}

function readKept(): Kept | undefined {
  const kept = v.safeParse(Kept, readPrivateJson(patternsFile()));
  return kept.success ? kept.output : undefined;
}
