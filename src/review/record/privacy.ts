import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import * as v from "valibot";
import defaults from "../../../lua/claude-code/editor/privacy/defaults.lua" with { type: "text" };
import { writePrivateFile } from "../../lib/atomic-write";
import { own, readPrivateJson } from "../../lib/json";
import { waitForLock } from "../../lib/lock";
import { isUnshared, realPath, sharedFolders, stateFolder } from "../../lib/paths";

/** Hooks keep these private where no Neovim has run yet: each line of the plugin's list. */
export const PRIVATE_BY_DEFAULT: readonly string[] = [...defaults.matchAll(/^ {2}"(.+)",$/gm)].map(
  ([, pattern]) => pattern as string,
);

interface Rule {
  globs: readonly Bun.Glob[];
  /** Matched against the whole path rather than the last part of it. */
  whole: boolean;
  /** `!pattern` */
  isException: boolean;
}

const Patterns = v.array(v.string());
/** The patterns of each Neovim that runs, by its address, and for hooks where none does those of the last one. */
const Kept = v.object({ last: Patterns, of: v.record(v.string(), Patterns) });
type Kept = v.InferOutput<typeof Kept>;

function patternsFile(): string {
  return join(stateFolder(), "privacy.json");
}

/** Longer than any Neovim needs for its own. */
const LOCK_MS = 5_000;
/** The patterns of the latest call: an earlier one that waits for another Neovim keeps these, too. */
let latest: string[] = [];

/** Keeps the options `privacy.*` of the Neovim at $NVIM for hooks. Throws the system's error. */
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
  const others = Object.entries(readKept()?.of ?? {}).filter(([address]) => existsSync(address));
  const of = { ...Object.fromEntries(others), [process.env.NVIM ?? ""]: latest };
  return { last: latest, of };
}

/** Globs as the options `privacy.patterns` and `review.ignore` have them. */
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
 * Which files Neovim's options `privacy.*` hide from Claude; of these nothing is recorded but that
 * they changed. The same rules as lua/claude-code/editor/privacy.
 */
export class Privacy {
  readonly #patterns: PathPatterns;
  readonly #shared = sharedFolders();

  constructor(patterns: readonly string[] = readPatterns() ?? PRIVATE_BY_DEFAULT) {
    this.#patterns = new PathPatterns(patterns);
  }

  /** `path` is absolute. A link with an innocent name is as private as what it leads to. */
  isPrivate(path: string): boolean {
    if (this.#patterns.matches(path)) return true;
    const real = realPath(path);
    return (real !== path && this.#patterns.matches(real)) || isUnshared(real, this.#shared);
  }
}

/**
 * On many systems `.ENV` and `.env` are one file, and so are the composed and the decomposed `ü`:
 * letters lose their case and their accents. U+200B to U+200F are invisible.
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

/** As lua/claude-code/editor/privacy/glob.lua: `folder/**` is the folder, too; Bun knows `\\` and a first `!` besides. */
function compileGlob(text: string): Bun.Glob[] {
  const glob = text.replaceAll("\\", "\\\\").replace(/^!/, "\\!");
  const folder = glob.replace(/(\/\*\*)+$/, "");
  return [...new Set([glob, folder])].map((one) => new Bun.Glob(one));
}

/** Those of the Neovim that we run in, as they are now. */
function readPatterns(): string[] | undefined {
  const kept = readKept();
  return kept && (own(kept.of, process.env.NVIM ?? "") ?? kept.last);
}

function readKept(): Kept | undefined {
  const kept = v.safeParse(Kept, readPrivateJson(patternsFile()));
  return kept.success ? kept.output : undefined;
}
