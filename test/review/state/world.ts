import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { temporaryFolder } from "#test";
import { dirname, join } from "../../../src/lib/platform";
import { append } from "../../../src/review/journal/append";
import { Blobs } from "../../../src/review/journal/blobs";
import { ensureReviewFolder } from "../../../src/review/journal/folder";
import type { Content, JournalRecord, NewRecord } from "../../../src/review/journal/record";
import { type Listed, ReviewService } from "../../../src/review/service";
import type { ShownDecision, ShownFile } from "../../../src/review/shown";

/** A project with a home of its own, or of a Neovim, by its XDG default. */
export class TestProject implements Disposable {
  readonly root: string;
  readonly home: string;
  #service: ReviewService | undefined;
  #folder: string | undefined;
  readonly #own = temporaryFolder();
  readonly #before: NodeJS.ProcessEnv = {};
  constructor(root?: string, home?: string) {
    this.home = home ?? this.#own;
    const LOCALAPPDATA = join(this.home, "AppData/Local");
    this.setEnv({ XDG_STATE_HOME: join(this.home, ".local/state"), LOCALAPPDATA });
    this.root = root ?? join(this.#own, "project");
    mkdirSync(this.root, { recursive: true });
  }

  /** Sets variables of this process until the world is disposed of. */
  setEnv(values: Record<string, string | undefined>): void {
    for (const [name, value] of Object.entries(values)) {
      if (!(name in this.#before)) this.#before[name] = process.env[name];
      process.env[name] = value;
    }
  }

  /** The journal's. */
  get folder(): string {
    this.#folder ??= ensureReviewFolder(this.root);
    return this.#folder;
  }

  get blobs(): Blobs {
    return new Blobs(this.folder);
  }

  get service(): ReviewService {
    this.#service ??= this.another();
    return this.#service;
  }

  set service(service: ReviewService) {
    this.#service = service;
  }

  another(): ReviewService {
    const service = new ReviewService();
    service.follow([this.root]);
    return service;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  read(name: string): string | undefined {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "latin1") : undefined;
  }

  /** The user, or a program, writes a file; `undefined` removes it. Nothing is recorded. */
  write(name: string, text: string | Uint8Array | undefined): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    if (text === undefined) rmSync(path, { recursive: true, force: true });
    else writeFileSync(path, text, "latin1");
    return path;
  }

  list(request: object = {}): Promise<Listed> {
    return this.service.answer("list", request) as Promise<Listed>;
  }

  [Symbol.dispose](): void {
    rmSync(this.#own, { recursive: true, force: true });
    for (const [name, value] of Object.entries(this.#before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** A project with a journal of its own: Claude and the user write files, hooks record. */
export class World extends TestProject {
  #calls = 0;

  constructor(root?: string, home?: string) {
    super(root, home);
    ensureReviewFolder(this.root);
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(this.path(to)), { recursive: true });
    renameSync(this.path(from), this.path(to));
  }

  record(record: NewRecord): JournalRecord {
    return append(this.folder, record);
  }

  prompt(session = "A", text = "do it"): string {
    const prompt = `${session}-prompt-${++this.#calls}`;
    this.record({ type: "prompt", session, prompt, text });
    return prompt;
  }

  stop(session = "A"): void {
    this.record({ type: "stop", session });
  }

  content(text: string | undefined): Content {
    return text === undefined ? { absent: true } : this.blobs.put(Buffer.from(text, "latin1"));
  }

  /** Claude changes files by one call of a tool, and the hook records it. */
  claude(
    files: Record<string, string | undefined>,
    { session = "A", prompt, tool = "Edit", source = "tool", use, from = {} }: Call = {},
  ): string {
    const changes = Object.entries(files).map(([path, text]) => {
      const before = this.content(this.read(path));
      this.write(path, text);
      const moved = from[path] !== undefined && { from: from[path] };
      return { path, before, after: this.content(text), ...moved };
    });
    const call = { session, tool, source, ...(prompt && { prompt }), ...(use && { use }) };
    // The CLI reports when a command began: after everything recorded so far. For a command with an id, its own record
    // has the time.
    const began = source === "bash" && use === undefined && { began: Date.now() + 1 };
    return this.record({ type: "change", ...call, ...began, files: changes }).id;
  }

  /** One of Claude's commands changes the mode of a file. */
  claudeChmod(name: string, before: number, after: number, session = "A"): void {
    const content = this.content(this.read(name));
    this.chmod(name, after);
    const file = { path: name, before: content, after: content };
    const call = { session, tool: "Bash", source: "bash" } as const;
    this.record({ type: "change", ...call, files: [{ ...file, mode: [before, after] }] });
  }

  /** The user has written a file, or removed it, and Claude changes it. */
  edited(name: string, before: string | undefined, after: string | undefined, call?: Call): string {
    this.write(name, before);
    return this.claude({ [name]: after }, call);
  }

  chmod(name: string, mode: number): void {
    chmodSync(this.path(name), mode);
  }

  async file(
    name: string,
    request: object = {},
  ): Promise<(ShownFile & { version?: string }) | undefined> {
    const params = { path: this.path(name), ...request };
    return (await this.service.answer("file", params)) as ShownFile | undefined;
  }

  keep(files: object[], request: object = {}): Promise<ShownDecision> {
    return this.service.answer("keep", { files, ...request }) as Promise<ShownDecision>;
  }

  undo(files: object[], request: object = {}): Promise<ShownDecision> {
    return this.service.answer("undo", { files, ...request }) as Promise<ShownDecision>;
  }

  back(request: object = {}): Promise<ShownDecision> {
    return this.service.answer("back", request) as Promise<ShownDecision>;
  }

  /** `name kind 2>3@1` for each file, with its hunks' sizes and rows. */
  async summary(request: object = {}): Promise<string[]> {
    const { files } = await this.list(request);
    return files.map(({ path, kind, hunks }) => {
      const sizes = hunks.map(({ old, new: now }) => `${old[1]}>${now[1]}@${now[0]}`);
      return [path.slice(this.root.length + 1), kind, ...sizes].join(" ");
    });
  }

  blobBytes(): number {
    const names = [...new Bun.Glob("*/*").scanSync({ cwd: join(this.folder, "blobs") })];
    return names
      .map((name) => statSync(join(this.folder, "blobs", name)).size)
      .reduce((sum, size) => sum + size, 0);
  }
}

export interface Call {
  session?: string;
  prompt?: string;
  tool?: string;
  source?: "tool" | "bash" | "trees";
  use?: string;
  /** The old paths of moved files. */
  from?: Record<string, string>;
}

export function base64(text: string): string {
  return Buffer.from(text, "latin1").toString("base64");
}
