import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { inFile, occurrencesOf } from "../../src/language/occurrences";
import { ProjectFiles } from "../../src/language/project-files";
import { tries } from "../fuzz/effort";
import { nightly, temporaryFolder } from "../support/neovim";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: string[]) => Bun.spawnSync(["git", "-C", folder, ...args]);
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const filesOf = async (name: string, signal?: AbortSignal) => {
  const { list } = await occurrencesOf(name, new ProjectFiles(folder), signal);
  return [...new Set(list.map(({ path }) => basename(path)))].sort();
};

const PART = fc.constantFrom(
  "foo",
  "bar",
  "_x1",
  "é",
  "größe",
  "日本",
  "$",
  "-",
  "#",
  " ",
  "\n",
  "…",
);

test.each([["with git"], ["without git"]])(
  "%s each occurrence of a name as a whole word is found, also of one that is no word",
  async (way) => {
    if (way === "with git") git("init", "-q");
    const text = fc.array(PART, { maxLength: 30 }).map((parts) => parts.join(""));
    const name = fc
      .array(PART, { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(""))
      .filter((found) => !/\s/.test(found));
    const texts = fc.array(text, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(texts, name, async (all, word) => {
        for (const [i, one] of all.entries()) write(`${i}.txt`, one);
        const project = new ProjectFiles(folder);
        const { list, isCut } = await occurrencesOf(word, project);
        const expected = [...(project.list() ?? [])].flatMap((path) => inFile(path, word));
        expect(new Set(list)).toEqual(new Set(expected));
        expect(isCut).toBe(false);
      }),
      {
        numRuns: tries(100),
        // The bounds of a name that is none of git's words.
        examples: [
          [["foo$foo"], "$foo"],
          [["x…bar…x"], "…bar…"],
          [["éfoo foo"], "foo"],
          [["foo-foo-foo"], "foo-foo"],
          [["-foo --foo"], "-foo"],
        ],
      },
    );
  },
);

test("private files, ignored ones and links out of the project stay out", async () => {
  git("init", "-q");
  for (const name of [".env", "ignored.txt", "new.txt", "tracked.txt"]) write(name, "foo\n");
  write(".gitignore", "ignored.txt\n");
  git("add", "tracked.txt", ".env");
  const outside = `${folder}.txt`;
  writeFileSync(outside, "foo\n");
  symlinkSync(outside, join(folder, "link.txt"));
  expect(await filesOf("foo")).toEqual(["new.txt", "tracked.txt"]);
  rmSync(outside);
});

test("the repository's configuration changes nothing", async () => {
  git("init", "-q");
  for (const pair of [
    ["color.ui", "always"],
    ["submodule.recurse", "true"],
    ["grep.patternType", "perl"],
    ["grep.fullName", "true"],
    ["grep.threads", "99999"],
    ["core.fsmonitor", `touch ${join(folder, "ran")}`],
  ]) {
    git("config", ...(pair as [string, string]));
  }
  write(".gitattributes", "*.txt -diff\n");
  mkdirSync(join(folder, "a b"));
  write("a b/1 ü.txt", "foo\n");
  expect(await filesOf("foo")).toEqual(["1 ü.txt"]);
  expect(await filesOf("f..")).toEqual([]);
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

test("in a broken repository nothing is found, and that is known", async () => {
  mkdirSync(join(folder, ".git"));
  write("a.txt", "foo\n");
  const { list, isCut } = await occurrencesOf("foo", new ProjectFiles(folder));
  expect({ list, isCut }).toEqual({ list: [], isCut: true });
});

test("nothing is read for a question that nobody waits for any more", async () => {
  write("a.txt", "foo\n");
  expect(await filesOf("foo", AbortSignal.abort())).toEqual([]);
});

nightly.test(
  "of a name in more than 400 files the first ones are listed, and that there are more is known",
  async () => {
    git("init", "-q");
    for (let i = 0; i < 402; i++) write(`${i}.txt`, "foo\n");
    const { list, isCut } = await occurrencesOf("foo", new ProjectFiles(folder));
    expect({ count: list.length, isCut }).toEqual({ count: 400, isCut: true });
  },
);

test.each<[what: string, part: string, count: number]>([
  ["words", "foo ", 250_000],
  ["quotes that nothing closes", "\\'foo", 150_000],
])("a line of a megabyte of %s is read once", (_what, part, count) => {
  const path = join(folder, "a.ts");
  writeFileSync(path, `bar\n${part.repeat(count)}\nfoo "foo"`);
  const found = inFile(path, "foo");
  const column = part.indexOf("foo") + (count - 1) * part.length;
  expect(found.length).toBe(count + 2);
  expect(found.slice(-3)).toEqual([
    { path, line: 2, column, context: "code" },
    { path, line: 3, column: 0, context: "code" },
    { path, line: 3, column: 5, context: "string" },
  ]);
});
