import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "../../src/lib/platform";

export interface LockFile {
  path: string;
  port: number;
  /** Permission bits of the file and of its folder. */
  mode: number;
  folderMode: number;
  content: {
    pid: number;
    workspaceFolders: string[];
    ideName: string;
    transport: string;
    authToken: string;
  };
}

/** The lock files below `home`, as the CLI finds them: $HOME/.claude/ide/PORT.lock. */
export async function lockFiles(home: string): Promise<LockFile[]> {
  const folder = join(home, ".claude/ide");
  const names = await readdir(folder).catch(() => []);
  const locks = names.filter((name) => name.endsWith(".lock")).map((name) => join(folder, name));
  const folderMode = locks.length > 0 ? (await stat(folder)).mode & 0o777 : 0;
  const read = async (path: string) => ({
    path,
    port: Number(basename(path, ".lock")),
    mode: (await stat(path)).mode & 0o777,
    folderMode,
    content: JSON.parse(await readFile(path, "utf8")),
  });
  // The lock file of a killed Neovim may be removed at this moment.
  return (await Promise.all(locks.map((path) => read(path).catch(() => [])))).flat();
}
