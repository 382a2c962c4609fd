import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as v from "valibot";
import { replace } from "../lib/atomic-write";
import { UserError } from "../lib/errors";
import type { Log } from "../lib/log";
import { isBelow, realPath, removeFile } from "../lib/paths";
import { readRegular } from "../lib/read-regular";
import { FileAnswer, hashOf } from "./files";
import type { Link } from "./link";
import type { PathMap } from "./path-map";
import { Requests } from "./requests";
import { LIMITS } from "./wire";

/** 16 MB over a slow network. */
const ANSWER_MS = 30_000;

interface Copied {
  readonly path: string;
  size: number;
}

/**
 * The folders of a remote that are not on this machine, as private folders here: with the files that were needed,
 * which follow those of there while it is connected. What it sends goes nowhere else, and of files that were
 * asked for alone.
 */
export class Mirror {
  readonly #relay: Requests;
  /** By their paths there. */
  readonly #copied = new Map<string, Copied>();

  constructor(
    private readonly name: string,
    private readonly folders: readonly string[],
    private readonly map: PathMap,
    log: Log,
  ) {
    const take = (said: unknown) => this.#take(v.parse(FileAnswer, said));
    this.#relay = new Requests(name, "files", take, () => {}, log);
  }

  /** The link has connected: what is here already, as the files that Neovim has loaded, may be old. */
  connect(link: Link, loaded: readonly string[]): void {
    this.#relay.connect(link);
    const copied = [...this.#copied.values()].map(({ path }) => path);
    for (const path of [...loaded, ...copied]) this.bring([path])?.catch(() => {});
  }

  holds(path: string): boolean {
    const real = realPath(path);
    return this.folders.some((folder) => isBelow(real, realPath(folder)));
  }

  /** Makes these files as they are there. Undefined: none of them is here. Rejects with a UserError. */
  bring(paths: readonly string[]): Promise<void> | undefined {
    const own = [...new Set(paths)].filter((path) => this.holds(path));
    if (own.length === 0) return undefined;
    return Promise.all(own.map((path) => this.#bring(path))).then(() => {});
  }

  async #bring(path: string): Promise<void> {
    const there = this.#there(path);
    const copied = this.#copied.get(there) ?? { path, size: 0 };
    if (this.#copied.size >= LIMITS.files && !this.#copied.has(there))
      throw new UserError(`no more than ${LIMITS.files} files of ${this.name} can be here`);
    this.#copied.set(there, copied);
    const { bytes } = await this.#ask({ path: there });
    this.#put(copied, bytes);
  }

  /**
   * Writes a file there, and then here. `version`: of the file here as the user has read it, "" for none; undefined
   * replaces whatever is there. Rejects with a UserError, and then nothing is changed here.
   */
  async write(path: string, content: Buffer, version: string | undefined): Promise<void> {
    if (content.length > LIMITS.fileBytes)
      throw new UserError(`it has more than ${LIMITS.fileBytes / 1024 / 1024} MB`);
    if (version === undefined) await this.#bring(path);
    else if (version !== versionOf(path)) throw new UserError("it has changed there");
    const there = this.#there(path);
    const hash = hashOf(versionOf(path) === "" ? undefined : readRegular(path));
    const bytes = content.toString("base64");
    await this.#ask({ path: there, bytes, ...(hash !== undefined && { hash }) });
    const copied = this.#copied.get(there) ?? { path, size: 0 };
    this.#copied.set(there, copied);
    this.#put(copied, bytes);
  }

  #there(path: string): string {
    const there = this.map.toRemote(path);
    if (there !== undefined) return there;
    throw new UserError(`${path} is in no folder of ${this.name}`);
  }

  async #ask(request: object): Promise<FileAnswer> {
    return v.parse(FileAnswer, await this.#relay.ask(request, ANSWER_MS));
  }

  #take(answer: FileAnswer): void {
    const copied = this.#copied.get(answer.path);
    if (copied && answer.problem === undefined) this.#put(copied, answer.bytes);
  }

  #put(copied: Copied, base64: string | undefined): void {
    const { path } = copied;
    const bytes = base64 === undefined ? undefined : Buffer.from(base64, "base64");
    const size = bytes?.length ?? 0;
    const others = [...this.#copied.values()].reduce((sum, one) => sum + one.size, -copied.size);
    if (size > LIMITS.fileBytes || others + size > LIMITS.filesBytes)
      throw new UserError(`the files of ${this.name} are too big to be here`);
    // A symlink that somebody has put there leads nowhere.
    if (!this.holds(path)) throw new UserError(`${path} is in no folder of ${this.name}`);
    copied.size = size;
    if (!bytes) return void removeFile(path);
    if (versionOf(path) !== "" && readRegular(path).equals(bytes)) return;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    replace(path, (draft) => writeFileSync(draft, bytes, { mode: 0o600, flag: "wx" }));
  }
}

/** As Lua has it (editor/documents/mirror.lua); "" for no file. */
function versionOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return "";
  return [stats.mtimeNs / 1_000_000_000n, stats.mtimeNs % 1_000_000_000n, stats.size].join(":");
}
