import { existsSync } from "node:fs";
import { writePrivateFile } from "../lib/atomic-write";
import { readPrivateJson } from "../lib/json";
import { namesIn, stateFolder } from "../lib/paths";
import { dirname, join } from "../lib/platform";

/** The text of a file before and after our change. `before` is null if the file did not exist. */
interface ChangedFile {
  before: string | null;
  after: string;
}

/** Records how we set a project up, so that we can undo exactly that. */
export interface ProjectRecord {
  root: string;
  /** False once the set-up was undone. Neovim then does not offer it again. */
  active: boolean;
  /** By path. */
  files: Record<string, ChangedFile>;
  /** Folders that we made, outermost first. */
  folders: string[];
}

/** The path of a project's record. Its lock is held from reading to writing the record. */
export function recordPath(root: string, kind: "json" | "lock" = "json"): string {
  const id = Bun.CryptoHasher.hash("sha256", root, "hex").slice(0, 24);
  return join(stateFolder(), "projects", `${id}.${kind}`);
}

/** Undefined if a project was never set up, or its record cannot be read. */
export function readRecord(root: string): ProjectRecord | undefined {
  const record = readPrivateJson(recordPath(root)) as ProjectRecord | undefined;
  return record?.root === root ? record : undefined;
}

/** Throws the system's error. */
export function writeRecord(record: ProjectRecord): void {
  writePrivateFile(recordPath(record.root), JSON.stringify(record));
}

/** The roots of all projects that are set up. */
export function activeProjects(): string[] {
  const folder = join(stateFolder(), "projects");
  return namesIn(folder).flatMap((name) => {
    const { root, active } = readPrivateJson(join(folder, name)) ?? {};
    const isActive = active === true && typeof root === "string";
    return isActive && recordPath(root) === join(folder, name) ? [root] : [];
  });
}

/** The nearest project around a folder that is set up. */
export function projectAround(folder: string): string | undefined {
  for (let root = folder; ; root = dirname(root)) {
    if (existsSync(recordPath(root)) && readRecord(root)?.active) return root;
    if (dirname(root) === root) return undefined;
  }
}
