import { join } from "node:path";
import { OwnFile } from "../lib/atomic-write";
import { attempt } from "../lib/errors";
import { parseJson } from "../lib/json";
import { namesIn, removeFile, stateFolder } from "../lib/paths";
import { readPrivateFile } from "../lib/private-folder";
import { isAlive } from "../lib/process";

/** One running Neovim, for programs that are started outside of it. Paths are real paths. */
export interface Entry {
  /** Neovim's own. */
  pid: number;
  /** The socket or named pipe on which it answers. */
  address: string;
  workspaceFolders: string[];
  /** The port to which the Claude CLI connects. */
  port: number;
  /** In ms since the epoch. */
  since: number;
}

function registryFolder(): string {
  return join(stateFolder(), "neovims");
}

/** Our Neovim's entry, as long as we serve it. Nothing here throws: the rest works without it. */
export class Registration {
  readonly #file: OwnFile;

  constructor(
    private readonly entry: Entry,
    folder = registryFolder(),
  ) {
    this.#file = new OwnFile(join(folder, `${entry.pid}.json`));
    this.#write();
  }

  follow(folders: readonly string[]): void {
    this.entry.workspaceFolders = [...folders];
    this.#write();
  }

  end(): void {
    this.#file.remove();
  }

  #write(): void {
    // If that fails, a CLI outside of Neovim only finds us by the project's own file.
    attempt(() => this.#file.write(JSON.stringify(this.entry)));
  }
}

/** All running Neovims, the newest first. Entries of processes that are gone are removed. */
export function entries(folder = registryFolder()): Entry[] {
  return namesIn(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => join(folder, name))
    .flatMap((path) => readEntry(path) ?? [])
    .sort((a, b) => b.since - a.since);
}

/** Another user's file is not trusted. */
function readEntry(path: string): Entry | undefined {
  const entry = parseJson(readPrivateFile(path) ?? "") as Entry | undefined;
  if (!isEntry(entry)) return undefined;
  if (isAlive(entry.pid)) return entry;
  removeFile(path);
  return undefined;
}

/** By hand: a hook has no time to load a schema library, and we wrote the file ourselves. */
function isEntry(value: Partial<Entry> | null | undefined): value is Entry {
  return (
    typeof value?.pid === "number" &&
    typeof value.address === "string" &&
    typeof value.since === "number" &&
    Array.isArray(value.workspaceFolders) &&
    value.workspaceFolders.every((folder) => typeof folder === "string")
  );
}
