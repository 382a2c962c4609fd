/**
 * Holds what users see to plain words (CONTRIBUTING.md, "Words"): `bun scripts/check-words.ts`
 * prints each place that uses another one, and then exits 1. Users see the pages named below, the help
 * and the man page, and every string in lua/ and src/ that has a space in it. Of the CHANGELOG only
 * what is not yet released counts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import ts from "typescript";
import { luaLiterals } from "./imports/lua-literals";

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
  [/\b(deaf|hush|muddled|farewell)\b/i, "locked, disabled, ambiguous, exit"],
];

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "install.sh",
  "scripts/packaging/claude-code-nvim.rb.in",
];

interface Text {
  file: string;
  line: number;
  text: string;
}

if (import.meta.main) {
  const texts = [...documents(), ...luaStrings(), ...typescriptStrings()];
  const findings = texts.flatMap(problemsOf);
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

function documents(): Text[] {
  const help = readdirSync(join(ROOT, "doc")).filter((name) => /\.(txt|1)$/.test(name));
  const paths = [...PAGES, ...help.map((name) => `doc/${name}`)];
  return paths.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const shown = file === "CHANGELOG.md" ? unreleased(text) : text;
    return shown.split("\n").map((line, index) => ({ file, line: index + 1, text: line }));
  });
}

/** The beginning, up to the newest release. */
function unreleased(changelog: string): string {
  return changelog.split(/^## \[\d/m)[0] ?? "";
}

function luaStrings(): Text[] {
  return files("{lua,plugin}/**/*.lua").flatMap(({ file, source }) =>
    luaLiterals(source)
      .filter(({ text }) => text.includes(" "))
      .map(({ text, line }) => ({ file, line, text })),
  );
}

function typescriptStrings(): Text[] {
  return files("src/**/*.ts").flatMap(({ file, source }) => {
    const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest);
    const texts: Text[] = [];
    const visit = (node: ts.Node) => {
      const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node);
      if (isText && node.text.includes(" ")) {
        const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
        texts.push({ file, line, text: node.text });
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return texts;
  });
}

function files(pattern: string) {
  return [...new Glob(pattern).scanSync({ cwd: ROOT })]
    .sort()
    .map((file) => ({ file, source: readFileSync(join(ROOT, file), "utf8") }));
}
