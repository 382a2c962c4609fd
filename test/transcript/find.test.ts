import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transcriptOf } from "../../src/transcript/endpoint";
import { temporaryFolder } from "../support/neovim";

let folder: string;
const before = process.env.CLAUDE_CONFIG_DIR;
beforeEach(() => {
  folder = temporaryFolder();
  process.env.CLAUDE_CONFIG_DIR = folder;
  write("-old/a.jsonl", 1);
  write("-new/a.jsonl", 2);
});
afterEach(() => {
  if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
  else process.env.CLAUDE_CONFIG_DIR = before;
  rmSync(folder, { recursive: true });
});

const projects = (name: string) => join(folder, "projects", name);

function write(name: string, at: number): void {
  mkdirSync(join(projects(name), ".."), { recursive: true });
  writeFileSync(projects(name), "");
  utimesSync(projects(name), at, at);
}

test.each<[string, () => void]>([
  ["nothing else", () => {}],
  ["a plain file", () => writeFileSync(projects(".DS_Store"), "")],
  ["a link to itself", () => symlinkSync("loop", projects("loop"))],
  ["a link to nothing", () => symlinkSync("gone", projects("dead"))],
  ["a folder with that name", () => mkdirSync(projects("-x/a.jsonl"), { recursive: true })],
])("the newest file is the conversation's beside %s", (_what, make) => {
  make();
  expect(transcriptOf("a")).toBe(projects("-new/a.jsonl"));
});

test("an id that is too long for a name is nowhere", () => {
  expect(transcriptOf("a".repeat(5_000))).toBeUndefined();
});
