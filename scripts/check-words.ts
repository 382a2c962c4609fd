/**
 * Checks for plain words (CONTRIBUTING.md, "Style"). `bun scripts/check-words.ts` prints each place that uses another
 * word, and then exits 1. It reads the pages, the help, and the messages, names and comments in lua/, plugin/, src/,
 * scripts/ and bench/. In comments and in names of tests it also finds constructions.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";

const ROOT = dirname(import.meta.dir);

/** Each with what to write instead. */
const BANNED: [words: RegExp, instead: string][] = [
  [/\bmend(s|ed|ing)?\b/i, "fix"],
  [/\b(un)?hear(s|d|ing)?\b/i, "receive"],
  [/\b(tell|tells|told|telling)\b/i, "show, report, send; receive"],
  [/\bspeaks? against\b/i, "say what forbids it"],
  [/\bof (ours|yours)\b/i, "our, your"],
  [/\b(a|the|another|no|each) person\b|\bpeople\b/i, "you, the user"],
  [/\blast words\b/i, "last output"],
  [/\banew\b/i, "again"],
  [/\bmeanwhile\b/i, "in the meantime, or nothing"],
  [/\bas it were\b/i, "nothing"],
  [/\b(deaf|hush|muddled|farewell|inheritors)\b/i, "locked, ambiguous, exit, descendants"],
  [/\bdebts?\b|\bow(e|ed|es|ing)\b/i, "pending reports, expected"],
];

const OPENERS = "What|Who|Whoever|Of|So|Where|One that|Those that";

/** Each with what to write instead, and the number that lua/ still has, which may only decrease. */
const CONSTRUCTIONS: [found: RegExp, instead: string, inLua: number][] = [
  [new RegExp(`(^|[.:;] )(${OPENERS})\\b(?!.*\\?)`), "the subject first", 11],
  [/(?<!\bthere )\b(is|are|was|were) (none|no(?! (longer|more|less|one)\b))\b/i, "is not", 2],
  [/\bnobody\b/i, "no one", 1],
  [/\bby itself\b/i, "automatically, on its own", 0],
  [/\bstands\b(?! (for|out)\b)/, "is, appears", 0],
  [/\bgoes\b(?! (to|on|in|into|out|over|up|down|back|away|through|with|beyond)\b)/, "a verb", 1],
  [/\bso long\b(?! as\b)/i, "while, as long as", 2],
  [/\bdear\b/i, "expensive", 0],
  [/\b(MOST|LEAST)_/, "MAX_, MIN_", 0],
  [/\b(an?|any|no) \w+ of (Claude|Neovim|the user|the CLI)'s (that|which|while)\b/i, "by", 0],
  [/\b(a|the|its|user's) present (?!ed)\w/i, "current", 0],
  [/(?<!\bthere )\b(is|are|was|were) another one\b/i, "differs", 0],
  [/\bso (many|much) (?!(that|as|less|more)\b)/i, "this many", 0],
  [/\ball that (is|was|has|the)\b/i, "everything that", 0],
  [/\b(asks?|looks?|waits?) for (no|nothing)\b/i, "does not", 0],
  [/\bsome \d/i, "about", 0],
];
const TEST_NAME = /(?:\b(?:test|describe)\b|^\s*\]\))[^"`]*["`](.*)/;
const COMMENT = /(?:^|\s)(?:\/\/|\/?\*+|--+|#) (.*)/;

const READ = [
  "{*.md,doc/*.{md,txt},install.sh,scripts/packaging/formula.rb.in}",
  "{lua,plugin,src,test,scripts,bench}/**/*.{lua,ts}",
  "scripts/docs/*.txt",
];

interface Text {
  file: string;
  line: number;
  text: string;
}

if (import.meta.main) {
  const read = texts();
  const product = read.filter(({ file }) => !file.startsWith("test/"));
  const findings = [...product.flatMap(problemsOf), ...constructionsIn(read)];
  for (const finding of findings) console.error(finding);
  process.exit(findings.length > 0 ? 1 : 0);
}

export function problemsOf(line: Text): string[] {
  return BANNED.flatMap(([words, instead]) => {
    const found = words.exec(line.text)?.[0];
    return found ? [finding(line, found, instead)] : [];
  });
}

/** The places of a construction in comments and in names of tests, if there are more than allowed. */
export function constructionsIn(lines: Text[]): string[] {
  return CONSTRUCTIONS.flatMap(([construction, instead, inLua]) => {
    const within = (folder: RegExp, max: number) => {
      const places = lines.flatMap((line) => {
        const found = folder.test(line.file) && construction.exec(proseOf(line.text))?.[0];
        return found ? [finding(line, found, `${instead}; at most ${max}`)] : [];
      });
      return places.length > max ? places : [];
    };
    return [...within(/^lua\//, inLua), ...within(/^(?!lua\/)/, 0)];
  });
}

function proseOf(text: string): string {
  const name = TEST_NAME.exec(text)?.[1];
  return name?.replace(/^[a-z]/, (first) => first.toUpperCase()) ?? COMMENT.exec(text)?.[1] ?? "";
}

function finding({ file, line, text }: Text, found: string, instead: string): string {
  return `${file}:${line}: "${found}" (better: ${instead}) in: ${text.trim().slice(0, 100)}`;
}

function texts(): Text[] {
  const found = READ.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: ROOT })]);
  const read = found.filter((file) => file !== "scripts/check-words.ts").sort();
  return read.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    return text.split("\n").map((line, index) => ({ file, line: index + 1, text: line }));
  });
}
