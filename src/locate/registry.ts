import { OwnFile } from "../lib/atomic-write";
import { attempt } from "../lib/errors";
import { parseJson } from "../lib/json";
import { namesIn, removeFile, stateFolder } from "../lib/paths";
import { join } from "../lib/platform";
import { readPrivateFile } from "../lib/private-folder";
import { isAlive } from "../lib/process";

/** A running Neovim, for programs that start outside it. Paths are real paths. */
export interface Entry {
  pid: number;
  /** The socket or named pipe. */
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

/** Our Neovim's entry, while we serve it. Never throws, because everything else works without it. */
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
    // If this fails, a CLI outside Neovim finds us only by the project file.
    attempt(() => this.#file.write(JSON.stringify(this.entry)));
  }
}

/** All running Neovims, the newest first. Removes the entries of ended processes. */
export function entries(folder = registryFolder()): Entry[] {
  return namesIn(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => join(folder, name))
    .flatMap((path) => readEntry(path) ?? [])
    .sort((a, b) => b.since - a.since);
}

/** Ignores files of other users. */
function readEntry(path: string): Entry | undefined {
  const entry = parseJson(readPrivateFile(path) ?? "") as Entry | undefined;
  if (!isEntry(entry)) return undefined;
  if (isAlive(entry.pid)) return entry;
  removeFile(path);
  return undefined;
}

/** Checks fields without a schema library, which takes a hook too long to load. We wrote the file. */
function isEntry(value: Partial<Entry> | null | undefined): value is Entry {
  return (
    typeof value?.pid === "number" &&
    typeof value.address === "string" &&
    typeof value.since === "number" &&
    Array.isArray(value.workspaceFolders) &&
    value.workspaceFolders.every((folder) => typeof folder === "string")
  );
}
