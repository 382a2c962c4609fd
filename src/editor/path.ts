import { type Stats, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { EditorRefusal } from "./port";

/**
 * The absolute path a client means: a relative one is taken from `root` (the workspace). Throws
 * EditorRefusal for what cannot be a file: empty, NUL or control characters, a device, FIFO or socket.
 */
export function resolvePath(input: string, root: string | undefined): string {
  if (input === "") throw new EditorRefusal("The file path is empty.");
  refuseControlCharacters(input);
  if (!isAbsolute(input) && !root) {
    throw new EditorRefusal(`The file path is relative and there is no workspace: ${input}`);
  }
  const path = resolve(root ?? "/", input);
  refuseSpecial(path);
  return path;
}

/** Throws EditorRefusal: a NUL would end the name for the system, the rest are never intended. */
export function refuseControlCharacters(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (!/[\u0000-\u001f\u007f]/.test(name)) return;
  throw new EditorRefusal(`The file path holds control characters: ${JSON.stringify(name)}`);
}

function refuseSpecial(path: string): void {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch {
    return; // Not there, or not to be looked at: the operation itself will say so.
  }
  if (stats.isFIFO() || stats.isSocket() || stats.isBlockDevice() || stats.isCharacterDevice()) {
    throw new EditorRefusal(`Not a regular file: ${path}`);
  }
}
