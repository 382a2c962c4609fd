import { lstatSync } from "node:fs";
import { below, type Place, removeFoldersBelow } from "../../lib/below";
import { Failure, failureCode, message } from "../../lib/errors";
import { isBelow } from "../../lib/paths";
import { join } from "../../lib/platform";
import { readOnDisk, stampOf } from "../state/contents";
import type { ReviewedProject, View } from "../state/reviewed-project";
import type { TrackedFile } from "../state/tracked-file";
import { compare } from "../weave/compare";
import { FILE, isText, type Lines, sameLines } from "../weave/lines";
import type { Outcome } from "./keep";

/** Completes "FILE …" in a message. */
const DIFFERS = "differs from its buffer: write it (:w!), or load it (:e!), and try again";

export interface FileTarget {
  file: TrackedFile;
  /** Undefined if the file cannot be read. */
  view: View | undefined;
  target: Lines;
  /** Whether the text goes into a buffer; the disk then stays unchanged. */
  inBuffer: boolean;
  /** The new permission bits, if they change. */
  mode: number | undefined;
}

/** Has edits if the request had a buffer's text; otherwise we wrote the file. */
export interface AppliedFile extends Outcome, Partial<ReturnType<typeof editsBetween>> {
  /** Whether the file was removed from the disk. */
  removed?: boolean;
}

/**
 * Gives files their texts. Removals come last, so that a killed process may leave a moved file's text twice but never
 * loses it. Only removals that make room for a file or folder of the same name come first.
 */
export function applyAll(project: ReviewedProject, targets: readonly FileTarget[]): AppliedFile[] {
  const isRemoval = ({ target }: FileTarget) => target.length === 0;
  const written = targets.filter((one) => !isRemoval(one)).map(({ file }) => project.path(file));
  const isInTheWay = (path: string) =>
    written.some((other) => isBelow(other, path) || isBelow(path, other));
  const turns = Map.groupBy(targets, (one): number => {
    if (!isRemoval(one)) return 1;
    return isInTheWay(project.path(one.file)) ? 0 : 2;
  });
  return [0, 1, 2]
    .flatMap((turn) => turns.get(turn) ?? [])
    .map((one) => ({ path: one.file.path, ...applyToFile(project, one) }));
}

/** Records the texts that were written to disk, so that hooks do not take them for Claude's. */
export function recordWritten(
  project: ReviewedProject,
  targets: readonly FileTarget[],
  applied: readonly AppliedFile[],
): void {
  const done = new Set(applied.flatMap((one) => (one.problem || one.edits ? [] : [one.path])));
  const written = targets.filter(({ file }) => done.has(file.path));
  const files = written.map(({ file: { path }, target }) => {
    return { path, content: project.contents.put(target) };
  });
  if (files.length > 0) project.append({ type: "written", files });
}

/** Writes a file to disk, or returns edits for Neovim's buffer. */
function applyToFile(
  project: ReviewedProject,
  { file: { path }, view, target, inBuffer, mode }: FileTarget,
): Omit<AppliedFile, "path"> {
  if (!view) return { problem: `${path} cannot be read` };
  const removed = target.length === 0;
  const isByRows = inBuffer && formatOf(target) !== "" && formatOf(target) === formatOf(view.lines);
  try {
    if (isByRows || sameLines(view.lines, target)) {
      if (mode !== undefined) below(project.root, path, (place) => place.setMode(mode));
      return isByRows ? editsBetween(view.lines, target) : {};
    }
    const bytes = removed ? undefined : project.contents.bytes(target);
    if (!removed && !bytes) return { problem: `${path} mixes text and binary content` };
    writeBelow(project.root, { path, expected: view.lines, bytes, mode });
    return removed ? { removed } : {};
  } catch (error) {
    const isChanged = failureCode(error) === "changed";
    if (isChanged && inBuffer) return { problem: `${path} ${DIFFERS}` };
    const text = message(error);
    return { problem: isChanged ? text : `${path} could not be written: ${text}` };
  }
}

/**
 * The format that all rows of a buffer share: line ends and a byte order mark. If the format changes, we write the file,
 * and Neovim reads it again. "" for binary content and for an empty file.
 */
function formatOf(lines: Lines): string {
  const [, first] = lines;
  if (first === undefined || !isText(lines)) return "";
  const ended = lines.filter((line) => line.endsWith("\n"));
  const isCrlf = ended.length > 0 && ended.every((line) => line.endsWith("\r\n"));
  return `${isCrlf} ${first.startsWith("\xef\xbb\xbf")}`;
}

interface Writing {
  path: string;
  /** The exact content that the user has seen. */
  expected: Lines;
  /** Undefined to delete the file. */
  bytes: Uint8Array | undefined;
  /** The new permission bits, if they change. */
  mode?: number | undefined;
}

/**
 * Writes or removes a file below the root, if it still has the expected content. Preserves mode, owner and hard links.
 * Throws Failure "changed" and the system's error, and then leaves the file unchanged.
 */
export function writeBelow(root: string, { path, expected, bytes, mode }: Writing): void {
  const changed = (how: string) => new Failure(`${path} ${how}`, "changed");
  const now = readOnDisk(root, path);
  if (!("lines" in now)) throw changed(now.problem);
  const stale = "has changed since it was shown";
  if (!sameLines(now.lines, expected)) throw changed(stale);
  const write = (place: Place) => {
    const stats = place.stats();
    if (now.stamp !== stampOf(stats)) throw changed(stale);
    if (bytes === undefined) return place.remove();
    if (stats?.isSymbolicLink()) throw changed("is a symlink");
    place.write(bytes, mode);
  };
  try {
    if (bytes && lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()) {
      removeFoldersBelow(root, path);
      now.stamp = "";
    }
    below(root, path, write, bytes !== undefined);
  } catch (error) {
    throw failureCode(error) === "outside" ? changed("is not inside the project") : error;
  }
}

/**
 * Returns the edits of a buffer that turn `from` into `to`, from the last row to the first, so that row numbers stay
 * valid. `first` counts from 1; if `count` is 0, insert before that row. Apply an edit only if the rows have the
 * `expected` bytes. `eol` is whether the last line of the new text has a line end.
 */
function editsBetween(from: Lines, to: Lines) {
  const old = from.filter((line) => line !== FILE);
  const now = to.filter((line) => line !== FILE);
  const edits = compare(old, now).map(({ oldStart, oldEnd, newStart, newEnd }) => ({
    first: oldStart + 1,
    count: oldEnd - oldStart,
    expected: old.slice(oldStart, oldEnd).map(rowOf),
    lines: now.slice(newStart, newEnd).map(rowOf),
  }));
  return { edits: edits.reverse(), eol: now.at(-1)?.endsWith("\n") ?? true };
}

/** The bytes of a line, without its "\n". */
export function rowOf(line: string): Uint8Array {
  return Buffer.from(line.endsWith("\n") ? line.slice(0, -1) : line, "latin1");
}
