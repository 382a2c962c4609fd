import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { isAlive } from "../lib/process";

/** A lock file, as far as it could be read. */
export interface Lock {
  path: string;
  port: number;
  /** Why Claude Code cannot use it; undefined if it can. */
  problem?: string;
  pid?: number;
  ideName?: string;
  folders: string[];
  /** Whether the process that it names runs. */
  alive: boolean;
}

export function readLocks(folders: readonly string[]): Lock[] {
  return folders.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => /^\d+\.lock$/.test(name))
      .map((name) => readLock(join(folder, name))),
  );
}

export function readLock(path: string): Lock {
  const lock = { path, port: Number.parseInt(path.split(sep).at(-1) ?? "", 10) };
  const bad = (problem: string): Lock => ({ ...lock, problem, folders: [], alive: false });
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return bad((error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : String(error));
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return bad("it is not JSON");
  }
  if (typeof content !== "object" || content === null) return bad("it is no JSON object");
  const { pid, ideName, workspaceFolders, authToken } = content as Record<string, unknown>;
  if (typeof authToken !== "string") return bad("it has no authToken");
  if (typeof pid !== "number") return bad("it has no pid");
  const folders = Array.isArray(workspaceFolders) ? workspaceFolders : [];
  return {
    ...lock,
    pid,
    ideName: String(ideName),
    folders: folders.filter((folder): folder is string => typeof folder === "string"),
    alive: isAlive(pid),
  };
}

/** Claude Code's rule: the working folder is one of the workspace's, or below one. */
export function covers(folders: readonly string[], cwd: string): boolean {
  return folders.some((folder) => {
    const whole = folder.endsWith(sep) ? folder : folder + sep;
    return cwd === folder || cwd + sep === folder || cwd.startsWith(whole);
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
