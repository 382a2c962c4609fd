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
import { basename, dirname, join, relative } from "node:path";
import { attempt, Failure } from "./errors";
import { isBelow, realPath } from "./paths";
import { openIfThere, readRange, withRegular } from "./read-regular";
import { rewrite } from "./rewrite";

/* The files of a project. Other programs may replace any folder there with a symlink at any moment. */

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
/** Opens a folder that one may enter, and not list. Node has no name for it. */
const O_PATH = process.platform === "linux" ? 0o10000000 : 0;

/** A folder on the way is a symlink, or was replaced in the meantime. */
const outside = () => new Failure("it lies behind a symlink", "outside");

/** A regular file's bytes, or a symlink's target, and the stats of what was read. */
export interface FileBelow {
  stats: Stats;
  bytes: Buffer;
}

/** A name in a folder that is open. Nothing follows a symlink; everything throws the system's error. */
export class Place {
  /** `path`: by the folder's descriptor, where the system can name that. */
  constructor(readonly path: string) {}

  /** Undefined: nothing is there. */
  stats(): Stats | undefined {
    return lstatSync(this.path, { throwIfNoEntry: false });
  }

  /**
   * Undefined: nothing is there. Throws an Error for what is neither file nor symlink, or has more than `mostBytes`.
   */
  read(mostBytes: number): FileBelow | undefined {
    const stats = this.stats();
    if (!stats) return undefined;
    if (stats.isSymbolicLink()) return { stats, bytes: Buffer.from(readlinkSync(this.path)) };
    const read = (file: number, size: number) => {
      if (size > mostBytes) throw new Error(`it has ${size} bytes`);
      return { stats: fstatSync(file), bytes: readRange(file, 0, size) };
    };
    return withRegular(this.path, read, O_NOFOLLOW);
  }

  /** Writes a file as `rewrite` does; refuses a folder. */
  write(bytes: Uint8Array, mode: number | undefined): void {
    rewrite(this.path, bytes, this.stats(), mode);
  }

  /** Changes only regular files. */
  setMode(mode: number): void {
    withRegular(this.path, (file) => fchmodSync(file, mode), O_NOFOLLOW);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/**
 * Calls `use` with the place of a file below a root, which is a real path, while the file's folder is open: what was
 * looked at is what is read, and nothing is written elsewhere. Undefined if there is no such folder, unless it `makes`
 * those that are missing below the root. Throws Failure "outside", what `use` throws, and the system's error. Linux
 * alone has names for open folders: elsewhere the folder is looked at before and after `use`, and a symlink that comes
 * and goes in between counts for what is written.
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

/** Removes a folder below a root that holds nothing but folders. Throws as `below`, and where it holds more. */
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
    // It may be gone again.
    opened = openSync(folder, flags);
  }
  try {
    const through = `/proc/self/fd/${opened}`;
    const real = process.platform === "linux" && attempt(() => readlinkSync(through));
    // A container may have no /proc.
    if (!real) return checked(folder, opened, use);
    if (real !== folder) throw outside();
    return use(through);
  } finally {
    closeSync(opened);
  }
}

function checked<T>(folder: string, opened: number, use: (folder: string) => T): T {
  const { dev, ino } = fstatSync(opened);
  const check = () => {
    const now = statSync(folder);
    const isSame = realPath(folder) === folder && now.dev === dev && now.ino === ino;
    if (!isSame) throw outside();
  };
  check();
  const result = use(folder);
  check();
  return result;
}
