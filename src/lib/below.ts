import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { rewrite } from "./atomic-write";
import { attempt, Failure } from "./errors";
import { isBelow, realPath } from "./paths";
import { basename, dirname, IS_LINUX, join, relative } from "./platform";
import { openIfThere, readRange, withRegular } from "./read-regular";

/* Other programs may replace any folder of a project with a symlink at any moment. */

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
/** Opens a folder that we may enter, even if we may not list it. Node does not define this flag. */
const O_PATH = IS_LINUX ? 0o10000000 : 0;

/** A folder of the path is a symlink, or was replaced in the meantime. */
const outside = () => new Failure("it is behind a symlink", "outside");

/** The bytes of a regular file, or the target of a symlink, with its stats. */
export interface FileBelow {
  stats: Stats;
  bytes: Buffer;
}

/** A name in an open folder. No method follows a symlink. All throw the system's error. */
export class Place {
  /** `path` leads through the folder's descriptor if the system has names for these. */
  constructor(readonly path: string) {}

  /** Undefined if there is no file. */
  stats(): Stats | undefined {
    return lstatSync(this.path, { throwIfNoEntry: false });
  }

  /** Undefined if there is no file. Throws an Error unless it is a symlink, or a file of at most `maxBytes`. */
  read(maxBytes: number): FileBelow | undefined {
    const stats = this.stats();
    if (!stats) return undefined;
    if (stats.isSymbolicLink()) return { stats, bytes: Buffer.from(readlinkSync(this.path)) };
    const read = (file: number, size: number) => {
      if (size > maxBytes) throw new Error(`it has ${size} bytes`);
      return { stats: fstatSync(file), bytes: readRange(file, 0, size) };
    };
    return withRegular(this.path, read, O_NOFOLLOW);
  }

  /** Writes a file as `rewrite` does; refuses a folder. */
  write(bytes: Uint8Array, mode: number | undefined): void {
    rewrite(this.path, bytes, this.stats(), mode);
  }

  setMode(mode: number): void {
    withRegular(this.path, (file) => fchmodSync(file, mode), O_NOFOLLOW);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/**
 * Calls `use` with the place of a file below a root, which is a real path. The file's folder is open during the call,
 * so `use` checks, reads and writes the same file, whatever happens to the path. Undefined if the folder does not
 * exist, unless `makes` is true: then makes the missing folders. Throws Failure "outside", the error of `use`, or the
 * system's. Only Linux has names for open folders. Other systems check the folder before and after `use`, and may write
 * through a symlink that exists only in between.
 */
export function below<T>(
  root: string,
  path: string,
  use: (place: Place) => T,
  makes = false,
): T | undefined {
  const file = join(root, path);
  if (file === root || !isBelow(file, root)) throw outside();
  return inFolder(
    root,
    dirname(file),
    (folder) => use(new Place(join(folder, basename(file)))),
    makes,
  );
}

/** Removes a folder below a root, with the folders in it. Throws if it contains any file, and as `below` does. */
export function removeFoldersBelow(root: string, path: string): void {
  const inside = inFolder(root, join(root, path), (folder) =>
    readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()),
  );
  for (const { name } of inside ?? []) removeFoldersBelow(root, join(path, name));
  below(root, path, (place) => rmdirSync(place.path));
}

function inFolder<T>(
  root: string,
  folder: string,
  use: (folder: string) => T,
  makes = false,
): T | undefined {
  const flags = O_RDONLY | O_DIRECTORY | O_PATH;
  let opened = openIfThere(folder, flags);
  if (opened === undefined) {
    if (!makes) return undefined;
    if (folder !== root)
      below(root, relative(root, folder), ({ path }) => mkdirSync(path, { recursive: true }), true);
    // This throws if the folder is gone again.
    opened = openSync(folder, flags);
  }
  try {
    const through = `/proc/self/fd/${opened}`;
    const real = IS_LINUX && attempt(() => readlinkSync(through));
    // A container may lack /proc.
    if (!real) return checked(folder, opened, use);
    if (real !== folder) throw outside();
    return use(through);
  } finally {
    closeSync(opened);
  }
}

function checked<T>(folder: string, opened: number, use: (folder: string) => T): T {
  const { dev, ino } = fstatSync(opened, { bigint: true });
  const check = () => {
    const now = statSync(folder, { bigint: true });
    const isSame = realPath(folder) === folder && now.dev === dev && now.ino === ino;
    if (!isSame) throw outside();
  };
  check();
  const result = use(folder);
  check();
  return result;
}
