import { posix, win32 } from "node:path";

/** Any other system counts as one of these. */
export type System = "linux" | "darwin" | "win32";

/** Nothing else asks which system this is, so tests on Linux can ask for the rules of another. */
export const SYSTEM = process.platform as System;
export const IS_WINDOWS = SYSTEM === "win32";
export const IS_LINUX = SYSTEM === "linux";

/** Windows takes these names for devices, for streams of a file, or for other names. */
export const NO_NAME =
  /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\.|$)/i;

/**
 * The functions of node:path, for paths in normal form: names are separated by `/`, and a drive letter is in upper
 * case. Windows itself accepts this form. `native` writes a path as the system's other programs do.
 */
export function pathsOf(system: System) {
  const same = (path: string) => path;
  if (system !== "win32") return { ...posix, normal: same, native: same };
  const normal = (path: string) =>
    path.replaceAll("\\", "/").replace(/^[a-z]:/, (drive) => drive.toUpperCase());
  return {
    ...win32,
    normal,
    native: (path: string) => path.replaceAll("/", "\\"),
    dirname: (path: string) => normal(win32.dirname(path)),
    join: (...parts: string[]) => normal(win32.join(...parts)),
    // Theirs compares in lower case, in which some letters are longer, such as İ.
    relative(from: string, to: string) {
      const prefix = from.replace(/\/?$/, "/");
      return to.startsWith(prefix) ? to.slice(prefix.length) : normal(win32.relative(from, to));
    },
    resolve: (...parts: string[]) => normal(win32.resolve(...parts)),
  };
}

export type Paths = ReturnType<typeof pathsOf>;

export const {
  basename,
  delimiter,
  dirname,
  extname,
  isAbsolute,
  join,
  native,
  normal,
  parse,
  relative,
  resolve,
} = pathsOf(SYSTEM);
