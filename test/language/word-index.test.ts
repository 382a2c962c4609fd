import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { inFile } from "../../src/language/occurrences";
import { ProjectFiles } from "../../src/language/project-files";
import { WordIndex } from "../../src/language/word-index";
import { temporaryFolder } from "../support/neovim";

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

test("the index leaves out no file in which a name stands, whatever was written when", () => {
  const folder = temporaryFolder();
  const project = new ProjectFiles(folder);
  const index = new WordIndex();
  const text = fc.array(PART, { maxLength: 30 }).map((parts) => parts.join(""));
  const name = fc
    .array(PART, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(""))
    .filter((found) => !/\s/.test(found));
  try {
    fc.assert(
      // Each run writes some of the same files again, most often within the clock's resolution.
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), name, (texts, word) => {
        for (const [i, one] of texts.entries()) writeFileSync(join(folder, `${i}.txt`), one);
        const files = project.versions() ?? new Map();
        const known = index.filesWith(word, files);
        const holding = [...files.keys()].filter((path) => inFile(path, word).length > 0);
        // Without an ASCII letter the index knows nothing, and says so.
        expect(known !== undefined).toBe(/\w/.test(word));
        for (const path of known ? holding : []) expect(known).toContain(path);
      }),
      { numRuns: 500 },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each<[what: string, part: string, count: number]>([
  ["words", "foo ", 250_000],
  ["quotes that nothing closes", "\\'foo", 150_000],
])("a line of a megabyte of %s is read once", (_what, part, count) => {
  const folder = temporaryFolder();
  const path = join(folder, "a.ts");
  writeFileSync(path, `bar\n${part.repeat(count)}\nfoo "foo"`);
  const found = inFile(path, "foo");
  rmSync(folder, { recursive: true });
  const column = part.indexOf("foo") + (count - 1) * part.length;
  expect(found.length).toBe(count + 2);
  expect(found.slice(-3)).toEqual([
    { path, line: 2, column, context: "code" },
    { path, line: 3, column: 0, context: "code" },
    { path, line: 3, column: 5, context: "string" },
  ]);
});
