import type { Stats } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { Failure } from "../lib/errors";
import { pathsOfUri } from "../lib/file-uri";
import { MAX_PATH_BYTES, realPath, statOf } from "../lib/paths";
import type { FilePath } from "./model";

/** NAME_MAX of Linux and macOS; Windows has the same, in UTF-16 units. */
const MAX_BYTES_OF_NAME = 255;

/**
 * The absolute path a client means: a relative one is taken from `root` (the workspace). Throws Failure for what cannot
 * be a file: empty, too long, NUL or control characters, a device, FIFO, socket, or part of /proc or /sys.
 */
export function resolvePath(input: string, root: string | undefined): FilePath {
  if (input === "") throw new Failure("The file path is empty.");
  refuseLong(input);
  refuseControlCharacters(input);
  if (!isAbsolute(input) && !root) {
    throw new Failure(`The file path is relative and there is no workspace: ${input}`);
  }
  const path = resolve(root ?? "/", input);
  refuseLong(path);
  refuseSpecial(path);
  return path as FilePath;
}

/** One of the paths that a file URI may mean: as the client wrote it, and checked. */
interface UriPath {
  given: string;
  path: FilePath;
}

/**
 * The paths that a file URI may mean, most likely first; empty when it is not a file URI of this machine. Throws
 * Failure if one of them cannot be a file.
 */
export function resolveUri(uri: string): UriPath[] {
  return pathsOfUri(uri).map((given) => ({ given, path: resolvePath(given, undefined) }));
}

/** With symlinks resolved, as far as it exists. */
export function resolveLinks(path: FilePath): FilePath {
  return realPath(path) as FilePath;
}

/** Throws Failure: longer ones are never names of files, and costly to look for. */
export function refuseLong(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES) {
    throw new Failure(
      `The file path is too long: it has ${bytes} bytes, at most ${MAX_PATH_BYTES} are possible.`,
    );
  }
  const name = path.split(/[/\\]/).find((part) => Buffer.byteLength(part) > MAX_BYTES_OF_NAME);
  if (name === undefined || process.platform === "win32") return;
  throw new Failure(
    `A name in the file path is too long: it has ${Buffer.byteLength(name)} bytes, ` +
      `at most ${MAX_BYTES_OF_NAME} are possible.`,
  );
}

/** Throws Failure: a NUL would end the name for the system, the rest are never intended. */
export function refuseControlCharacters(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (!/[\u0000-\u001f\u007f]/.test(name)) return;
  throw new Failure(`The file path holds control characters: ${JSON.stringify(name)}`);
}

function refuseSpecial(path: string): void {
  const stats = statOf(path);
  // Not there, or not to be looked at: the operation itself will say so.
  if (!stats || stats.isDirectory() || (stats.isFile() && !isOfSystem(path, stats))) return;
  throw new Failure(`Not a regular file: ${path}`);
}

/** A file of /proc or /sys takes no blocks of a disk; for others a look at the links is saved. */
function isOfSystem(path: string, { blocks }: Stats): boolean {
  return !(blocks > 0) && /^\/(proc|sys)\//.test(realPath(path));
}
