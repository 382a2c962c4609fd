import type { Stats } from "node:fs";
import { Failure } from "../lib/errors";
import { pathsOfUri } from "../lib/file-uri";
import { MAX_PATH_BYTES, realPath, statOf } from "../lib/paths";
import { IS_WINDOWS, isAbsolute, NO_NAME, pathsOf, resolve } from "../lib/platform";
import type { FilePath } from "./model";

/** NAME_MAX of Linux and macOS. Windows has the same limit, in UTF-16 units. */
const MAX_BYTES_OF_NAME = 255;

/**
 * The absolute path for a client's path, which may be relative to `root` (the workspace). Throws Failure if it is empty
 * or too long, contains control characters, or is that of a device, a FIFO, a socket or a file in /proc or /sys.
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
  if (IS_WINDOWS) refuseNoName(path);
  refuseSpecial(path);
  return path as FilePath;
}

/**
 * The paths that a file URI may mean, the likeliest first. Empty unless it is a file URI of this machine. Throws
 * Failure if one of them cannot be a file.
 */
export function resolveUri(uri: string): { given: string; path: FilePath }[] {
  return pathsOfUri(uri).map((given) => ({ given, path: resolvePath(given, undefined) }));
}

export function resolveLinks(path: FilePath): FilePath {
  return realPath(path) as FilePath;
}

/** Throws Failure for a path that is too long for a file. Looking for it would be expensive. */
export function refuseLong(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES) {
    throw new Failure(
      `The file path is too long: it has ${bytes} bytes, at most ${MAX_PATH_BYTES} are possible.`,
    );
  }
  const name = path.split(/[/\\]/).find((part) => Buffer.byteLength(part) > MAX_BYTES_OF_NAME);
  if (name === undefined || IS_WINDOWS) return;
  throw new Failure(
    `A name in the file path is too long: it has ${Buffer.byteLength(name)} bytes, ` +
      `at most ${MAX_BYTES_OF_NAME} are possible.`,
  );
}

/** Throws Failure for control characters. A NUL would end the name, and no one intends the others. */
export function refuseControlCharacters(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them.
  if (!/[\u0000-\u001f\u007f]/.test(name)) return;
  throw new Failure(`The file path contains control characters: ${JSON.stringify(name)}`);
}

/** Throws Failure if Windows would open another file: `.env::$DATA` and `.env.` are `.env`. */
export function refuseNoName(path: string): void {
  const { root } = pathsOf("win32").parse(path);
  const name = path
    .slice(root.length)
    .split("/")
    .find((one) => NO_NAME.test(one));
  if (name !== undefined)
    throw new Failure(`No file on Windows can have the name ${name}: ${path}`);
}

function refuseSpecial(path: string): void {
  const stats = statOf(path);
  // If there are no stats, the operation itself will fail.
  if (!stats || stats.isDirectory() || (stats.isFile() && !isOfSystem(path, stats))) return;
  throw new Failure(`Not a regular file: ${path}`);
}

/** Files of /proc and /sys have no blocks on a disk. That test saves resolving the links of most others. */
function isOfSystem(path: string, { blocks }: Stats): boolean {
  return !(blocks > 0) && /^\/(proc|sys)\//.test(realPath(path));
}
