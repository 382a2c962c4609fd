/**
 * Holds what users and contributors read to plain words (CONTRIBUTING.md, "Style"):
 * `bun scripts/check-words.ts` prints each place that uses another one, and then exits 1. It reads
 * the pages named below, the help, and all of lua/, plugin/ and src/: messages, names and comments
 * alike.
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

/** They lack a subject. Those that are older than this rule may only become fewer. */
const BEGINNINGS = /^\s*(\/\/|\/?\*+|--+) ?(What|Who|Of|So|Where)\b/;
const MAX_BEGINNINGS = 344;

const PAGES = [
  "README.md",
  "doc/speed.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "install.sh",
  "scripts/packaging/formula.rb.in",
];

interface Text {
  file: string;
  line: number;
  text: string;
}

if (import.meta.main) {
  const begun = texts().filter(({ text }) => BEGINNINGS.test(text)).length;
  const findings = texts().flatMap(problemsOf);
  if (begun > MAX_BEGINNINGS)
    findings.push(`${begun} comments begin with What, Who, Of, So or Where: say the subject`);
  for (const finding of findings) console.error(finding);
  process.exit(findings.length > 0 ? 1 : 0);
}

export function problemsOf({ file, line, text }: Text): string[] {
  return BANNED.flatMap(([words, instead]) => {
    const found = words.exec(text)?.[0];
    if (!found) return [];
    return [`${file}:${line}: "${found}" (better: ${instead}) in: ${text.trim().slice(0, 100)}`];
  });
}

function texts(): Text[] {
  const sources = ["lua/**/*.lua", "plugin/*.lua", "src/**/*.ts", "doc/*.txt"];
  const found = sources.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: ROOT })]);
  return [...PAGES, ...found.sort()].flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    return text.split("\n").map((line, index) => ({ file, line: index + 1, text: line }));
  });
}
