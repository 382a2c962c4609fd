import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as v from "valibot";
import { replace } from "../lib/atomic-write";
import { UserError } from "../lib/errors";
import type { Log } from "../lib/log";
import { isBelow, realPath, removeEmptyFolder, removeFile, statOf } from "../lib/paths";
import { readRegular } from "../lib/read-regular";
import { FileAnswer, hashOf } from "./files";
import type { Link } from "./link";
import type { PathMap } from "./path-map";
import { Requests } from "./requests";
import { LIMITS } from "./wire";

/**
 * What makes a folder a repository, whose configuration runs programs, as some disks spell it, too. Each one of git's
 * has a HEAD.
 */
const REPOSITORY = /[\\/](\.(git|hg|svn|jj|sl)([\\/]|$)|head$)/i;

/** 16 MB over a slow network. */
const ANSWER_MS = 30_000;

interface Copied {
  readonly path: string;
  size: number;
  /** Requests for it that are under way. */
  asked: number;
  /** False: there is no such file there, or nobody knows. */
  isThere: boolean;
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

  /** Was it brought, or written? */
  follows(path: string): boolean {
    return this.#copied.has(this.map.toRemote(path) ?? "");
  }

  async #bring(path: string): Promise<void> {
    const there = this.#there(path);
    const copied = this.#entry(path, there);
    copied.asked++;
    try {
      const { bytes } = await this.#ask({ path: there });
      this.#put(copied, bytes);
    } finally {
      copied.asked--;
    }
  }

  /** One that is not there gives its place to the next one. Throws a UserError where there is no place. */
  #entry(path: string, there: string): Copied {
    const known = this.#copied.get(there);
    if (known) return known;
    if (this.#copied.size >= LIMITS.files) {
      const missing = [...this.#copied].find(([, one]) => !one.isThere && one.asked === 0);
      if (!missing)
        throw new UserError(`no more than ${LIMITS.files} files of ${this.name} can be here`);
      this.#copied.delete(missing[0]);
    }
    const copied = { path, size: 0, asked: 0, isThere: false };
    this.#copied.set(there, copied);
    return copied;
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
    const copied = this.#entry(path, there);
    const hash = hashOf(versionOf(path) === "" ? undefined : readRegular(path));
    const bytes = content.toString("base64");
    await this.#ask({ path: there, bytes, ...(hash !== undefined && { hash }) });
    this.#put(copied, bytes);
  }

  #there(path: string): string {
    const there = this.map.toRemote(path);
    if (REPOSITORY.test((there ?? "").replace(/\p{DI}/gu, "")))
      throw new UserError(`${path} is of a repository: it stays there`);
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
    copied.isThere = bytes !== undefined;
    if (!bytes) return this.#remove(path);
    const before = statOf(path)?.mtimeMs ?? 0;
    if (statOf(path)?.isFile() && readRegular(path).equals(bytes)) return;
    // Of what is a folder there now, and the reverse.
    for (const folder of this.#above(path)) if (statOf(folder)?.isFile()) removeFile(folder);
    removeEmptyFolder(path);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    replace(path, (draft) => {
      writeFileSync(draft, bytes, { mode: 0o600, flag: "wx" });
      // Another version: the clock of some file systems stands still for 4 ms.
      if (statSync(draft).mtimeMs <= before) utimesSync(draft, new Date(), new Date(before + 1));
    });
  }

  #remove(path: string): void {
    removeFile(path);
    // There may be a file of that name next.
    this.#above(path).every(removeEmptyFolder);
  }

  /** The folders in which it is, from the innermost one, but for the mirror's own. */
  #above(path: string): string[] {
    const folder = dirname(path);
    const isOwn = this.folders.every((one) => realPath(one) !== realPath(folder));
    return isOwn && this.holds(folder) ? [folder, ...this.#above(folder)] : [];
  }
}

/** As Lua has it (editor/documents/mirror.lua); "" for no file. */
function versionOf(path: string): string {
  // A file may be where a folder was.
  const stats = statOf(path) && statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return "";
  return [stats.mtimeNs / 1_000_000_000n, stats.mtimeNs % 1_000_000_000n, stats.size].join(":");
}
