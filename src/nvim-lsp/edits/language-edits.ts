import { isProtected } from "../../claude/protected";
import { failureCode, message } from "../../lib/errors";
import type { Log } from "../../lib/log";
import { realPath, shownPath } from "../../lib/paths";
import { resolve } from "../../lib/platform";
import { counted, cutText } from "../../lib/visible";
import type { FollowedNeovim } from "../../locate/followed";
import { recordLanguageEdit } from "../../review/record/recorded-project";
import { compare } from "../../review/weave/compare";
import { type FileEdit, fileEditsOf, type ServerEdit, unchanged } from "./workspace-edit";

const TASK_MS = 20_000;
/** Neovim loads each of these files for the check at the end of Claude's turn. */
const MAX_CHECKED = 50;
const MAX_LINES = 80;
const MAX_NAMES = 60;
const MAX_LENGTH = 160;

/** A file before and after an edit. */
interface FileChange {
  /** Absolute, symlinks resolved. */
  path: string;
  before: Uint8Array;
  after: Uint8Array;
  /** The number of text edits in the file. */
  edits: number;
}

/** The answer to an edit by lua/claude-code/editor/edits. */
export interface EditAnswer {
  edits: ServerEdit[];
  /** The changedticks of Neovim's buffers when it asked the servers. */
  ticks?: object;
}

/** A tool's edit of many files. */
interface LanguageEdit {
  tool: string;
  use: string | undefined;
  answer: EditAnswer;
  /** The old and new name of a symbol. */
  renamed?: { from: string; to: string };
  preview?: boolean | undefined;
}

interface Applied {
  changes: FileChange[];
  /** Why other changes were not made. */
  problem?: string;
}

/** Applies edits of language servers. Neovim checks and writes them, and the review shows them as Claude's. */
export class LanguageEdits {
  /** `session` is the id of a Claude session, and the CLI's process. */
  constructor(
    private readonly neovim: FollowedNeovim,
    private readonly session: { session?: string; pid: number },
    private readonly log: Log,
  ) {}

  /** The project's folder. */
  get place(): string {
    return realPath(this.neovim.places[0] ?? process.cwd());
  }

  /**
   * Throws Failure if no file was changed. If Neovim does not answer, files may have changed, and the review then shows
   * what the hooks find in the work tree.
   */
  async apply(edit: LanguageEdit): Promise<Applied> {
    const { answer, renamed, preview = false } = edit;
    const operations = answer.edits.flatMap(fileEditsOf);
    this.#refuseProtected(operations);
    const { ticks = {} } = answer;
    const params = { operations, ticks, preview, ...(renamed && { renamed }) };
    const done = await this.neovim.runTask("edits_apply", params, TASK_MS).catch((error) => {
      const isUnknown = ["busy", "gone"].includes(failureCode(error) ?? "gone");
      throw isUnknown ? error : unchanged(message(error));
    });
    const { changes, ...rest } = done as Made;
    const made = changes.map(
      ({ path, before, after, edits }): FileChange => ({
        // On Windows, Neovim's paths have other separators.
        path: resolve(path),
        before: Buffer.from(before, "base64"),
        after: Buffer.from(after, "base64"),
        edits,
      }),
    );
    if (!preview && made.length > 0) await this.#report(edit, made);
    return { ...rest, changes: made };
  }

  #refuseProtected(files: readonly FileEdit[]): void {
    const found = new Set(
      files.map(({ path }) => path).filter((path) => isProtected(path, this.place)),
    );
    if (found.size === 0) return;
    const names = [...found].slice(0, MAX_NAMES).map((path) => shownPath(path, this.place));
    throw unchanged(
      `These files run or configure programs, so this tool does not change them: ${names.join(", ")}. Use Edit or Write.`,
    );
  }

  /** Failures are only logged, because the files have been changed. */
  async #report({ tool, use }: LanguageEdit, changes: readonly FileChange[]): Promise<void> {
    let { session } = this.session;
    try {
      for (const { path } of changes.slice(0, MAX_CHECKED)) {
        // One at a time: Neovim may load the file.
        const params = { ...this.session, edits: [{ path, created: false }] };
        const answer = await this.neovim.ask("session_changed", params);
        session = answer.session ?? session;
      }
    } catch (error) {
      this.log.warn(`The check at the end of the turn failed: ${message(error)}`);
    }
    try {
      if (session !== undefined) recordLanguageEdit(this.place, { session, tool, use }, changes);
    } catch (error) {
      this.log.warn(`Recording for the review failed: ${message(error)}`);
    }
  }
}

interface Made {
  changes: { path: string; before: string; after: string; edits: number }[];
  problem?: string;
}

/** The changed files, one line for each. */
export function fileLines({ changes, problem }: Applied, root: string): string[] {
  const lines = changes.map((change) => `  ${headOf(change, root)}`);
  return first(lines, MAX_NAMES, (more) => `  … and ${more} more`, problem);
}

/** The lines that change, file by file: "12- old", "12+ new". */
export function diffLines({ changes, problem }: Applied, root: string): string[] {
  const lines = changes.flatMap((change) => [headOf(change, root), ...hunkLines(change)]);
  return first(lines, MAX_LINES, (more) => `… and ${more} more lines`, problem);
}

function first(
  lines: readonly string[],
  max: number,
  restOf: (more: number) => string,
  problem: string | undefined,
): string[] {
  const more = lines.length - max;
  return [
    ...lines.slice(0, max),
    ...(more > 0 ? [restOf(more)] : []),
    ...(problem === undefined ? [] : [`Other files of this edit were not changed: ${problem}`]),
  ];
}

function headOf({ path, edits }: FileChange, root: string): string {
  return `${shownPath(path, root)}  ${counted(edits, "edit")}`;
}

function hunkLines({ before, after }: FileChange): string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  return compare(old, now).flatMap(({ oldStart, oldEnd, newStart, newEnd }) => [
    ...old
      .slice(oldStart, oldEnd)
      .map((line, i) => `  ${oldStart + i + 1}- ${cutText(line, MAX_LENGTH)}`),
    ...now
      .slice(newStart, newEnd)
      .map((line, i) => `  ${newStart + i + 1}+ ${cutText(line, MAX_LENGTH)}`),
  ]);
}

function linesOf(bytes: Uint8Array): string[] {
  if (bytes.length === 0) return [];
  return Buffer.from(bytes)
    .toString()
    .replace(/^\uFEFF|\r?\n$/g, "")
    .split(/\r?\n/);
}
