import { join } from "node:path";
import { readRegular } from "../lib/read-regular";
import { command } from "../review/git/run";
import { type Context, contexts } from "./comments";
import type { FileVersion, ProjectFiles } from "./project-files";
import { textOf } from "./source-lines";
import { MOST_BYTES, WordIndex } from "./word-index";

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
const MOST_OCCURRENCES = 20_000;
const MOST_OUTPUT = 4 * 1024 * 1024;
const GREP_MS = 3_000;

/** Finds a name in the files of a project. */
export class ProjectWords {
  readonly #project: ProjectFiles;
  readonly #index = new WordIndex();

  constructor(project: ProjectFiles) {
    this.#project = project;
  }

  /** Reads the files, so that the first question need not. */
  prepare(files: ReadonlyMap<string, FileVersion> | undefined): void {
    if (files) this.#index.prepare(files);
  }

  /** Where the name stands as a whole word, private files left out. `files`: all, as they are now. */
  async occurrences(name: string, files = this.#project.versions()): Promise<Occurrences> {
    const found = await this.#filesWith(name, files);
    const list: Occurrence[] = [];
    let count = 0;
    for (const path of found ?? []) {
      if (count++ >= MOST_FILES || list.length >= MOST_OCCURRENCES) return { list, isCut: true };
      for (const one of inFile(path, name)) list.push(one);
    }
    return { list, isCut: !found };
  }

  /** git's grep finds it where the index does not say. It knows no other word's bounds than we do. */
  async #filesWith(
    name: string,
    files: ReadonlyMap<string, FileVersion> | undefined,
  ): Promise<readonly string[] | undefined> {
    const known = files && this.#index.filesWith(name, files);
    if (known) return known;
    const { root, privacy, git } = this.#project;
    const args = ["grep", "-l", "-z", "-I", "-F", "-w", "--untracked", "-e", name];
    const result = await git?.run(command(args, { ms: GREP_MS, mostBytes: MOST_OUTPUT }));
    if (result?.code !== 0 && result?.code !== 1) return files && [...files.keys()];
    const names = result.stdout.toString().split("\0").filter(Boolean);
    return names
      .filter((path) => !path.includes("\uFFFD"))
      .map((path) => join(root, path))
      .filter((path) => !privacy.isPrivate(path));
  }
}

/** Where the name stands in one file. */
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
