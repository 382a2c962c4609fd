import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { replace, writePrivateFile } from "../lib/atomic-write";
import { UserError } from "../lib/errors";
import { fileVersion } from "../lib/file-version";
import { parseJson } from "../lib/json";
import type { Log } from "../lib/log";
import {
  isBelow,
  realPath,
  removeEmptyFolder,
  removeFile,
  stateFolder,
  statOf,
} from "../lib/paths";
import { readRegular, readText } from "../lib/read-regular";
import { CHANGED, FileAnswer, hashOf } from "./files";
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
  /** Left out: there is none. */
  readonly size?: number;
}

/** What was last put here for a file, kept for all Neovims: another text is somebody's who writes here alone. */
const Put = v.object({ hash: v.string(), version: v.string() });
type Put = v.InferOutput<typeof Put>;

/**
 * The folders of a remote that are not on this machine, as private folders here: with the files that were needed,
 * which follow those of there while it is connected. What it sends goes nowhere else, and of files that were
 * asked for alone.
 */
export class Mirror {
  readonly #relay: Requests;
  /** By their paths there. */
  readonly #copied = new Map<string, Copied>();
  readonly #kept = new Set<string>();
  /** A file here has another text than was put, which stays. */
  onKept = (_problem: string) => {};

  /** `records`: the folder of what was put. */
  constructor(
    private readonly name: string,
    private readonly folders: readonly string[],
    private readonly map: PathMap,
    log: Log,
    private readonly records = join(stateFolder(), "mirrored"),
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
    const { bytes } = await this.#ask({ path: there });
    this.#put(there, path, bytes);
  }

  /**
   * Writes a file there, and then here; resolves with its version here. `version`: of the file here as Neovim has
   * read it, "" for none; undefined replaces whatever is there. Rejects with a UserError: then nothing was written,
   * unless there was no answer, and what is there comes.
   */
  async write(path: string, content: Buffer, version: string | undefined): Promise<string> {
    if (content.length > LIMITS.fileBytes)
      throw new UserError(`it has more than ${LIMITS.fileBytes / 1024 / 1024} MB`);
    const there = this.#there(path);
    const bytes = content.toString("base64");
    this.#follow(there, path, content.length);
    try {
      const hash = await this.#base(there, path, content, version);
      await this.#ask({ path: there, bytes, ...(hash !== undefined && { hash }) });
    } catch (error) {
      void this.#bring(path).catch(() => {});
      throw error;
    }
    return this.#put(there, path, bytes, true);
  }

  /** The hash of the text there that a new one takes the place of. */
  async #base(
    there: string,
    path: string,
    content: Buffer,
    version: string | undefined,
  ): Promise<string | undefined> {
    if (version === "") return undefined;
    if (version === undefined) {
      const { bytes } = await this.#ask({ path: there });
      return hashOf(bytes === undefined ? undefined : Buffer.from(bytes, "base64"));
    }
    const put = this.#lastPut(path);
    // The same text has come by a write that got no answer in time; or a text that somebody wrote here was read.
    const known = [put?.version, fileVersion(path)].includes(version);
    if (put && (known || put.hash === hashOf(content))) return put.hash;
    throw new UserError(CHANGED);
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
    if (copied && answer.problem === undefined) this.#put(answer.path, copied.path, answer.bytes);
  }

  /** In place of one that is not there, where there are too many. */
  #follow(there: string, path: string, size: number | undefined): void {
    const others = [...this.#copied].reduce(
      (sum, [key, one]) => sum + (key === there ? 0 : (one.size ?? 0)),
      0,
    );
    const bytes = size ?? 0;
    if (bytes > LIMITS.fileBytes || others + bytes > LIMITS.filesBytes)
      throw new UserError(`the files of ${this.name} are too big to be here`);
    this.#copied.set(there, { path, ...(size !== undefined && { size }) });
    if (this.#copied.size <= LIMITS.files) return;
    const [missing] = [...this.#copied].find(([, one]) => one.size === undefined) ?? [];
    this.#copied.delete(missing ?? there);
    if (missing === undefined)
      throw new UserError(`no more than ${LIMITS.files} files of ${this.name} can be here`);
  }

  /** Returns the version of the file. `isWritten`: by the user's own `:w`. */
  #put(there: string, path: string, base64: string | undefined, isWritten = false): string {
    const bytes = base64 === undefined ? undefined : Buffer.from(base64, "base64");
    this.#follow(there, path, bytes?.length);
    // A symlink that somebody has put there leads nowhere.
    if (!this.holds(path)) throw new UserError(`${path} is in no folder of ${this.name}`);
    const here = textOf(path);
    const isSame = here !== undefined && bytes?.equals(here);
    if (here && !isSame && !isWritten && !this.#isPut(path, here)) this.#keep(path);
    this.#kept.delete(path);
    if (!bytes) {
      this.#remove(path);
      return "";
    }
    if (!isSame) this.#replace(path, bytes);
    const put: Put = { hash: hashOf(bytes) as string, version: fileVersion(path) };
    writePrivateFile(this.#recordOf(path), JSON.stringify(put));
    return put.version;
  }

  #replace(path: string, bytes: Buffer): void {
    // What is a folder there now, and the reverse.
    for (const folder of this.#above(path)) {
      const text = textOf(folder);
      if (text && !this.#isPut(folder, text)) this.#keep(folder);
      if (text) removeFile(folder);
    }
    removeEmptyFolder(path);
    const before = statOf(path)?.mtimeMs ?? 0;
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

  #isPut(path: string, text: Buffer): boolean {
    return hashOf(text) === this.#lastPut(path)?.hash;
  }

  #keep(path: string): never {
    const problem =
      `${basename(path)} has been changed here, but not by :w, and does not follow ${this.name}: ` +
      `:w writes it there; delete it, and :e brings the file of there`;
    if (!this.#kept.has(path)) this.onKept(problem);
    this.#kept.add(path);
    throw new UserError(problem);
  }

  #recordOf(path: string): string {
    return join(this.records, String(hashOf(Buffer.from(realPath(path)))));
  }

  #lastPut(path: string): Put | undefined {
    const put = v.safeParse(Put, parseJson(readText(this.#recordOf(path)) ?? ""));
    return put.success ? put.output : undefined;
  }
}

/** undefined: there is no such file. */
function textOf(path: string): Buffer | undefined {
  return statOf(path)?.isFile() ? readRegular(path) : undefined;
}
