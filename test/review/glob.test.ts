import { PathPatterns } from "../../src/review/record/privacy";

/* Globs of the privacy options. One without "/" matches only names. */

const matches = (glob: string, path: string) => new PathPatterns([glob]).matches(path);

test.each<[glob: string, yes: string[], no: string[]]>([
  ["*.env", [".env", "a.env", "d/.env", "two\nlines/a\nb.env"], ["a.env.b"]],
  ["a*b*c", ["abc", "axbxc", "abcbc"], ["acb", "abcb", "ab/c"]],
  ["a*a", ["aa", "aba"], ["a"]],
  ["a*[*]b]*c", ["a*b]c", "ax*b]xc"], ["aab]c"]],
  ["*1*12*3", ["1123", "0101203"], ["113"]],
  ["**/*.ts", ["a.ts", "a/b/c.ts"], ["a.tsx"]],
  ["a/**", ["a", "a/b", "a/b/c"], ["b/c"]],
  ["**/a/**/b/*", ["a/b/c", "x/a/y/b/c", "a/b/b/c"], ["a/b", "b/a/c"]],
  ["{a,b{1,2}}/[!x]?", ["a/yz", "b2/yz"], ["b/yz", "a/xz"]],
  ["[z-a]", [], ["z", "a"]],
])("%s", (glob, yes, no) => {
  expect(yes.filter((path) => !matches(glob, path))).toEqual([]);
  expect(no.filter((path) => matches(glob, path))).toEqual([]);
});

test("treats a second ! of an exception as a part of the name", () => {
  const patterns = new PathPatterns(["*a", "!!a"]);
  expect(["a", "b", "!a"].map((name) => patterns.matches(name))).toEqual([true, false, false]);
});

test.each([
  `${"*a".repeat(60)}x`,
  `${"**/".repeat(60)}x`,
  `${"**/a/".repeat(60)}x`,
  `${"**a".repeat(60)}x`,
])("matches %s against a long name without delay", (glob) => {
  for (const path of ["a".repeat(255), "a/".repeat(100)]) expect(matches(glob, path)).toBe(false);
});
