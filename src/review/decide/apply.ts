import { lstatSync } from "node:fs";
import { join } from "node:path";
import { below, type Place, removeFoldersBelow } from "../../lib/below";
import { Failure, failureCode, message } from "../../lib/errors";
import { isBelow } from "../../lib/paths";
import { readOnDisk, stampOf } from "../state/contents";
import type { ReviewedProject, View } from "../state/reviewed-project";
import type { TrackedFile } from "../state/tracked-file";
import { compare } from "../weave/compare";
import { FILE, isText, type Lines, sameLines } from "../weave/lines";
import type { Outcome } from "./keep";

/** Completes "FILE …" in a message. */
const DIFFERS = "is not what its buffer has: write it (:w!), or load it (:e!), and try again";

/** The new text of a file. */
export interface FileTarget {
  file: TrackedFile;
  /** Undefined if the file cannot be read. */
  view: View | undefined;
  target: Lines;
  /** The text goes into a buffer; the disk stays as it is. */
  inBuffer: boolean;
  /** Permission bits, where they change. */
  mode: number | undefined;
}

/** With edits for the buffer whose text was sent; what was not sent was written to disk. */
export interface AppliedFile extends Outcome, Partial<ReturnType<typeof editsBetween>> {
  /** The file was removed from the disk. */
  removed?: boolean;
}

/**
 * Gives files their texts. A process that is killed in between leaves the text of a moved file twice,
 * and never nowhere: removals come last, but for those where a file and a folder want the same name.
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

/** Records that these files have their texts on disk now, whatever hooks find there later. */
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

/** Applies a decision to a file: on disk here, or as edits that the buffer's owner gets. */
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
 * The format that all rows of a buffer share: line ends, a byte order mark. If it changes, the file is written, and
 * Neovim reads it again. "" without rows: for binary content and for an empty file.
 */
function formatOf(lines: Lines): string {
  const [, first] = lines;
  if (first === undefined || !isText(lines)) return "";
  const ended = lines.filter((line) => line.endsWith("\n"));
  const isCrlf = ended.length > 0 && ended.every((line) => line.endsWith("\r\n"));
  return `${isCrlf} ${first.startsWith("\xef\xbb\xbf")}`;
}

/** The new state of a file. */
interface Writing {
  path: string;
  /** The content that the file must have, to the byte. */
  expected: Lines;
  /** Undefined to delete the file. */
  bytes: Uint8Array | undefined;
  /** Permission bits, where they change. */
  mode?: number | undefined;
}

/**
 * Writes a file below the root, or removes it, if it still is what the user has seen. Its mode, owner
 * and hard links stay. Throws Failure "changed", and the system's error; the file is then as it was.
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
    throw failureCode(error) === "outside" ? changed("is not inside of the project") : error;
  }
}

/**
 * The edits that turn `from` into `to`: rows of a buffer, from the last to the first, so that row numbers stay
 * true. `first`: from 1, with count 0 the row before which the lines go; `expected`: the bytes of the rows that stand
 * there, for another text must not be touched; `eol`: whether the last line of the new text ends with a line end.
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

/** A line's bytes as a row of a buffer. */
export function rowOf(line: string): Uint8Array {
  return Buffer.from(line.endsWith("\n") ? line.slice(0, -1) : line, "latin1");
}
