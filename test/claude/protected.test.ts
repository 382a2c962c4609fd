import { readFileSync } from "node:fs";
import { claudeCli, nightly } from "#test";
import { CLI_FILES, CLI_FOLDERS, isProtected } from "../../src/claude/protected";

test.each<[string, boolean]>([
  ["src/main.ts", false],
  ["npmrc", false],
  ["a/.npmrc", true],
  [".NpmRc", true],
  [".vſcode/tasks.json", true],
  [".ıdea/x", true],
  [".config/git/attributes", true],
  [".config/other", false],
  [".nvim.lua", true],
  [".ssh/config", true],
  [".git\\hooks\\pre-commit", true],
  [".claude/settings.json", true],
  [".claude/worktrees/one", true],
  [".claude/worktrees/one/src/a.ts", false],
  [".claude/worktrees/one/.envrc", true],
])("judges %s as protected: %p", (name, is) => {
  expect(isProtected(`/p/.git/project/${name}`, "/p/.git/project/")).toBe(is);
});

/* The CLI's list is in its executable, as text. */
nightly.test("has the names that the CLI asks about", () => {
  const text = readFileSync(claudeCli()).toString("latin1");
  const listWith = (name: string) => {
    const names = String.raw`\[(?:"[^"\]]+",)*"${name.replaceAll(".", "\\.")}"(?:,"[^"\]]+")*\]`;
    const lists = [...text.matchAll(new RegExp(names, "g"))].map(([list]) => JSON.parse(list));
    // Another list has the folders that a worktree's name may not contain.
    const asked = lists.filter((list) => !list.includes(".config"));
    return asked.sort((a, b) => a.length - b.length)[0];
  };
  expect(listWith(".bazeliskrc")).toEqual(CLI_FILES);
  expect([...listWith(".mvn"), ...listWith(".config/git")]).toEqual(CLI_FOLDERS);
});
