import { existsSync, lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { removeOldDrafts } from "../lib/atomic-write";
import { message, UserError } from "../lib/errors";
import { isBelow, realPath, removeEmptyFolder } from "../lib/paths";
import { readRegular } from "../lib/read-regular";
import { writeText } from "../lib/rewrite";
import { type ProjectRecord, writeRecord } from "./record";

/** Longer than any settings file, or CLAUDE.md, that somebody wrote: each of our edits reads the whole text. */
const MOST_BYTES = 1024 * 1024;

/** One thing that setting up, or undoing it, does. */
export interface Step {
  /** For the user who is asked: what happens to which file. */
  what: string;
  /**
   * Does it. The record on disk has it before the file has: whoever is killed in between can be undone.
   * Throws UserError or the system's error.
   */
  run(record: ProjectRecord): void | Promise<void>;
}

/** What is to be done in a project, and what the user should know besides. */
export interface Plan {
  root: string;
  /** Whether the project is set up afterwards. */
  active: boolean;
  steps: Step[];
  notes: string[];
  /** Plans again, from what is there now. */
  again(): Plan;
}

/**
 * The file's text; undefined if there is none. Throws UserError if it cannot be read, is too big, or is
 * none: a device or a pipe may have no end.
 */
export function readText(path: string): string | undefined {
  try {
    const bytes = readRegular(path, MOST_BYTES);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UserError(`${path} cannot be read: ${message(error)}`);
  }
}

/**
 * Gives a file of the project a new text, atomically; its mode and a symlink to it stay. Throws
 * UserError where it leads out of the project.
 */
export function changeFile(root: string, path: string, after: string, what: string): Step {
  const before = readText(path);
  const target = targetWithin(root, path);
  return {
    what: `${before === undefined ? "create" : "change"} ${withTarget(root, path)}: ${what}`,
    run(record) {
      if (readText(path) !== before || targetWithin(root, path) !== target) {
        throw changedMeanwhile(path);
      }
      makeFolder(dirname(path), record);
      const last = record.files[path];
      // Changed by another program since we did: what was before must not come back over that.
      const isOthers = last && last.after !== before && last.before !== (before ?? null);
      if (isOthers) delete record.files[path];
      else record.files[path] = { before: last ? last.before : (before ?? null), after };
      writeRecord(record);
      writeText(path, after);
    },
  };
}

/**
 * Undoes what was done to a file: byte for byte if nothing has changed it since. Throws UserError where
 * it leads out of the project.
 */
export function restoreFile(
  root: string,
  path: string,
  record: ProjectRecord | undefined,
  without: (text: string) => string,
  what: string,
): Step | undefined {
  const now = readText(path);
  if (now === undefined) return undefined;
  const known = record?.files[path];
  const before = known?.after === now ? known.before : without(now);
  if (before === now) return undefined;
  const shown = withTarget(root, path);
  return {
    what: before === null ? `delete ${shown}: nothing else is in it` : `change ${shown}: ${what}`,
    run(current) {
      if (readText(path) !== now || withTarget(root, path) !== shown) throw changedMeanwhile(path);
      if (before === null) unlinkSync(path);
      else writeText(path, before);
      delete current.files[path];
    },
  };
}

function changedMeanwhile(path: string): UserError {
  return new UserError(`${path} was changed in the meantime; try again`);
}

/** Makes a folder and those above it, and remembers which were missing. */
export function makeFolder(path: string, record: ProjectRecord): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  makeFolder(dirname(path), record);
  record.folders.push(path);
  writeRecord(record);
  mkdirSync(path);
}

/** Removes the folders that we made, unless something else is in them. */
export function removeFolders(record: ProjectRecord): void {
  for (const folder of record.folders.reverse()) {
    // We made the folder, so what was killed here is ours, however young its draft.
    removeOldDrafts(folder, Number.POSITIVE_INFINITY);
    removeEmptyFolder(folder);
  }
  record.folders = [];
}

/**
 * The real path of a project's file, whether it is there or not. Throws UserError where symlinks lead
 * out of the project, or nowhere: a clone may hold a link to the user's own settings.
 */
export function targetWithin(root: string, path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink && !existsSync(path)) {
    throw new UserError(`${path} is a symlink that leads nowhere: remove it first`);
  }
  const target = realPath(path);
  if (isBelow(target, root)) return target;
  throw new UserError(
    `${path} leads out of the project, to ${target}: replace the symlink by a file or folder first`,
  );
}

/** The path for a plan's text: with its target, if it has another one. */
function withTarget(root: string, path: string): string {
  const target = targetWithin(root, path);
  return target === path ? path : `${path} (a symlink to ${target})`;
}

const BEGIN = "<!-- claude-code.nvim: LSP diagnostics (begin) -->";
const END = "<!-- claude-code.nvim: LSP diagnostics (end) -->";

/** Spec 04, "CLAUDE.md Instructions". */
const SECTION = `${BEGIN}
## LSP Diagnostics

When you edit files, the system will check for lint errors and warnings before allowing you to complete.
If any issues are found, you'll be asked to fix them. You get one retry attempt - if you still can't fix them,
you'll be allowed to complete.

Use the nvim-lsp MCP server to get diagnostics:
- \`get_diagnostics()\` - Get all diagnostics across all open buffers
- \`get_diagnostics("src/main.lua")\` - Get diagnostics for a single file
- \`get_diagnostics(["src/main.lua", "src/utils.lua"])\` - Get diagnostics for multiple files
- \`get_session_diagnostics()\` - Get diagnostics only for files you edited in this session
- \`get_diagnostic_context(file_path, line)\` - Get code context around a specific diagnostic
- \`get_diagnostic_summary()\` - Get a summary of all errors/warnings with file counts

Best practices:
1. Always fix errors before warnings
2. Check diagnostics proactively after making changes
3. If you can't fix an issue on the second attempt, add a comment explaining why
${END}
`;

/** CLAUDE.md with our section at its end; unchanged if it has one. */
export function withSection(text: string | undefined): string {
  if (text === undefined || text === "") return SECTION;
  if (text.includes(BEGIN)) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.endsWith("\n") ? eol : eol + eol;
  return text + gap + SECTION.replaceAll("\n", eol);
}

/** CLAUDE.md without our section and the empty line before it. */
export function withoutSection(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin < 0 || end < 0) return text;
  const before = text.slice(0, begin).replace(/\r?\n(\r?\n)$/, "$1");
  return before + text.slice(end + END.length).replace(/^\r?\n/, "");
}
