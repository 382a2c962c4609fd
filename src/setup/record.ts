import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { writePrivateFile } from "../lib/atomic-write";
import { readPrivateJson } from "../lib/json";
import { namesIn, stateFolder } from "../lib/paths";

/** A file that we changed: its text before (null: there was none) and after. */
interface ChangedFile {
  before: string | null;
  after: string;
}

/** The setup of a project, so that exactly that can be undone. */
export interface ProjectRecord {
  root: string;
  /** False once it was undone: it is not set up again without being asked. */
  active: boolean;
  /** By path. */
  files: Record<string, ChangedFile>;
  /** Folders that we made, outermost first. */
  folders: string[];
}

/** The lock is held from the record's reading to its writing. */
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

/** The roots of all projects that are set up now. */
export function activeProjects(): string[] {
  const folder = join(stateFolder(), "projects");
  return namesIn(folder).flatMap((name) => {
    const { root, active } = readPrivateJson(join(folder, name)) ?? {};
    const isActive = active === true && typeof root === "string";
    return isActive && recordPath(root) === join(folder, name) ? [root] : [];
  });
}

/** The project around a folder that was set up: the nearest one upwards. */
export function projectAround(folder: string): string | undefined {
  for (let root = folder; ; root = dirname(root)) {
    if (existsSync(recordPath(root)) && readRecord(root)?.active) return root;
    if (dirname(root) === root) return undefined;
  }
}
