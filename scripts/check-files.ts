/**
 * Checks sizes. `bun scripts/check-files.ts` prints each budget, then each file or page that is too long, each folder
 * with too many files, each difference between ARCHITECTURE.md's map and the folders, and what test/wine.txt lacks,
 * and then exits 1.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { luaImports } from "./imports/lua";

const ROOT = dirname(import.meta.dir);
const LINES = 400;
/** `bun run docs` makes this file, with an entry for each option. */
const GENERATED = "lua/claude-code/config/types.lua";
/** Files directly in lua/claude-code/, where users look first. */
const TOP_FILES = 12;
/** The help describes the rest. */
const README_LINES = 150;
/** Limits, in bytes, of pages that users read as a whole. */
const PAGES = {
  "ARCHITECTURE.md": 9_000,
  "CHANGELOG.md": 2_000,
  "CONTRIBUTING.md": 7_000,
  "SECURITY.md": 10_000,
  "doc/claude-code.txt": 80_000,
};
/**
 * Limits of lines, by `wc -l`: of code in the first three rows, and of all files but a license's text in the last.
 * Raising one is a commit of its own that says why. Planned work may add to Lua and to src: 500 and 1,200 for one
 * plugin folder of the CLI, 250 and 500 for Windows and macOS, 500 and 500 for turns.
 */
const BUDGETS: readonly {
  name: string;
  files: string;
  lines: number;
  count?: number;
}[] = [
  { name: "Lua", files: "{lua,plugin}/**/*.lua", lines: 31_000, count: 185 },
  { name: "src", files: "src/**/*.ts", lines: 25_050, count: 195 },
  { name: "test", files: "test/**/*.{ts,lua}", lines: 46_250 },
  { name: "scripts and bench", files: "{scripts,bench}/**/!(LGPL-2.0.txt)", lines: 8_950 },
];
/** A module that one other file requires is mostly a part of that file. */
const MAX_OF_ONE_USER = 40;
/** Each has a table in ARCHITECTURE.md, with its folders in the first column. */
const MAPPED = ["src", "lua/claude-code", "lua/claude-code/editor"];
/** The test files of test/wine.txt. This number may only grow. */
const MIN_UNDER_WINE = 121;

const files = [...new Glob("{lua,plugin}/**/*.lua").scanSync({ cwd: ROOT })].sort();
const top = files.filter((file) => /^lua\/claude-code\/[^/]+$/.test(file)).length;
const measures = BUDGETS.flatMap(({ name, files, lines, count }) => {
  const found = [...new Glob(files).scanSync({ cwd: ROOT })];
  return [
    {
      name: `${name}, lines`,
      value: found.reduce((sum, file) => sum + linesOf(file), 0),
      most: lines,
    },
    ...(count ? [{ name: `${name}, files`, value: found.length, most: count }] : []),
  ];
});
const users = Map.groupBy(luaImports(ROOT), ({ to }) => to);
const ofOneUser = [...users.values()].filter(
  (all) => new Set(all.map(({ from }) => from)).size === 1,
);
measures.push({ name: "Lua modules of one user", value: ofOneUser.length, most: MAX_OF_ONE_USER });
for (const { name, value, most } of measures) {
  console.log(`budget: ${name}: ${value.toLocaleString("en")} of ${most.toLocaleString("en")}`);
}
const underWine = readFileSync(join(ROOT, "test/wine.txt"), "utf8").split("\n").filter(Boolean);
const findings = [
  ...measures
    .filter(({ value, most }) => value > most)
    .map(({ name, value, most }) => `${name}: ${value}, at most ${most}: what can go?`),
  ...files
    .filter((file) => file !== GENERATED && linesOf(file) > LINES)
    .map((file) => `${file}: ${linesOf(file)} lines, at most ${LINES}: which noun is too many?`),
  ...(top > TOP_FILES ? [`lua/claude-code: ${top} files, at most ${TOP_FILES}`] : []),
  ...(linesOf("README.md") > README_LINES ? [`README.md: at most ${README_LINES} lines`] : []),
  ...Object.entries(PAGES)
    .filter(([page, bytes]) => statSync(join(ROOT, page)).size > bytes)
    .map(([page, bytes]) => `${page}: ${statSync(join(ROOT, page)).size} bytes, at most ${bytes}`),
  ...MAPPED.flatMap(differences),
  ...underWine
    .filter((file) => !existsSync(join(ROOT, file)))
    .map((file) => `test/wine.txt: there is no ${file}`),
  ...(underWine.length < MIN_UNDER_WINE
    ? [`test/wine.txt: ${underWine.length} files, at least ${MIN_UNDER_WINE}`]
    : []),
];
for (const finding of findings) console.error(finding);
process.exit(findings.length > 0 ? 1 : 0);

function linesOf(file: string): number {
  return readFileSync(join(ROOT, file), "utf8").split("\n").length - 1;
}

function differences(folder: string): string[] {
  const map = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const [, table = ""] = map.split(`| \`${folder}/\` | |\n`);
  const rows = table.slice(0, table.indexOf("\n\n")).matchAll(/^\| (`.*?`) \|/gm);
  const named = [...rows].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w-]+)\/`/g)].map(([, name = ""]) => name),
  );
  const there = readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  return [
    ...there.filter((name) => !named.includes(name)).map((name) => `${name}/ has no row`),
    ...named.filter((name) => !existsSync(join(ROOT, folder, name))).map((name) => `no ${name}/`),
  ].map((text) => `ARCHITECTURE.md, the map of ${folder}/: ${text}`);
}
