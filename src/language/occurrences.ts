import { join } from "node:path";
import { readRegular } from "../lib/read-regular";
import { command } from "../review/git/run";
import { type Context, contexts } from "./comments";
import type { ProjectFiles } from "./project-files";
import { textOf } from "./source-lines";

export interface Occurrence {
  path: string;
  /** From 1. */
  line: number;
  /** Index into the line. */
  column: number;
  context: Context;
}

export interface Occurrences {
  list: Occurrence[];
  /** There are more files with the word than were looked at. */
  isCut: boolean;
}

const MOST_FILES = 400;
/** Files with more are no sources, and are not looked into. */
const MOST_BYTES = 1024 * 1024;
const MOST_OCCURRENCES = 20_000;
const MOST_OUTPUT = 4 * 1024 * 1024;
const GREP_MS = 3_000;
/** All files together are read for so long, and so many ms before anything else gets its turn. */
const READ_MS = 3_000;
const SLICE_MS = 10;

/** Finds the files with a text. What a repository's configuration may say of it is said here. */
const GREP = (
  "grep --files-with-matches --null --text --fixed-strings --untracked " +
  "--no-color --no-recurse-submodules --threads=8"
).split(" ");

/** Where the name stands as a whole word in the files of a project, private files left out. */
export async function occurrencesOf(
  name: string,
  project: ProjectFiles,
  signal?: AbortSignal,
): Promise<Occurrences> {
  const list: Occurrence[] = [];
  const files = (await filesWith(name, project)) ?? project.list();
  let count = 0;
  const began = performance.now();
  let slice = began;
  for (const path of files ?? []) {
    const now = performance.now();
    const isOver = now - began > READ_MS || signal?.aborted === true;
    if (isOver || count >= MOST_FILES || list.length >= MOST_OCCURRENCES) {
      return { list, isCut: true };
    }
    if (now - slice > SLICE_MS) {
      await new Promise(setImmediate);
      slice = performance.now();
    }
    const found = inFile(path, name);
    if (found.length > 0) count++;
    for (const one of found) list.push(one);
  }
  return { list, isCut: !files };
}

/** The files that hold the name, and perhaps some others. Undefined without git, or where it fails. */
async function filesWith(name: string, project: ProjectFiles): Promise<string[] | undefined> {
  const { root, privacy, git } = project;
  // git knows ASCII words alone, and judges both bounds by what is beyond them.
  const bounds = /^\w/.test(name) && /\w$/.test(name) ? ["--word-regexp"] : [];
  const args = [...GREP, ...bounds, "-e", name];
  const result = await git?.run(command(args, { ms: GREP_MS, mostBytes: MOST_OUTPUT }));
  if (result?.code !== 0 && result?.code !== 1) return undefined;
  return result.stdout
    .toString()
    .split("\0")
    .filter((path) => path !== "" && !path.includes("\uFFFD"))
    .map((path) => join(root, path))
    .filter((path) => !privacy.isPrivate(path));
}

export function inFile(path: string, name: string): Occurrence[] {
  const text = readText(path);
  const offsets = text === undefined ? [] : offsetsOf(text, name);
  if (text === undefined || offsets.length === 0) return [];
  const found = contexts(path, text, offsets);
  let line = 1;
  let start = 0;
  // Not looked for again for each word: a line may have a megabyte of them.
  let end = text.indexOf("\n");
  return offsets.map((offset, index) => {
    while (end >= 0 && end < offset) {
      line++;
      start = end + 1;
      end = text.indexOf("\n", start);
    }
    return { path, line, column: offset - start, context: found[index] as Context };
  });
}

function offsetsOf(text: string, name: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (isWhole(text, at, name)) offsets.push(at);
  }
  return offsets;
}

const WORD = /[\p{L}\p{N}_]/u;

function isWhole(text: string, at: number, name: string): boolean {
  const before = text[at - 1] ?? "";
  const behind = text[at + name.length] ?? "";
  return (
    !(WORD.test(before) && WORD.test(name[0] ?? "")) &&
    !(WORD.test(behind) && WORD.test(name.at(-1) ?? ""))
  );
}

function readText(path: string): string | undefined {
  try {
    const bytes = readRegular(path, MOST_BYTES);
    return bytes.includes(0) ? undefined : textOf(bytes);
  } catch {
    return undefined;
  }
}
