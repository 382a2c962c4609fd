import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { checkFiles } from "../../src/edits/check";
import type { Operation } from "../../src/edits/operation";
import { perform } from "../../src/edits/perform";
import { VirtualFiles } from "../../src/edits/virtual-files";
import { applyWorkspaceEdit, filesOf, type WorkspaceEdit } from "../../src/edits/workspace-edit";
import { fileUri } from "../../src/lib/file-uri";
import { Log } from "../../src/lib/log";
import { unwrap } from "../../src/neovim/call";
import { type NeovimVersion, TestNeovim, temporaryFolder } from "../support/neovim";

const CALL = `return require("claude-code.editor").call(...)`;

/** A folder that is open in a real Neovim, and edits of its files as a language server sends them. */
export class Workspace implements AsyncDisposable {
  readonly log = new Log({ level: "error" });

  private constructor(readonly neovim: TestNeovim) {}

  static async open(version: NeovimVersion): Promise<Workspace> {
    const neovim = await TestNeovim.start({ version, setup: "{ auto_start = false }" });
    return new Workspace(neovim);
  }

  get folder(): string {
    return this.neovim.cwd;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string | Uint8Array): string {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  uri(name: string): string {
    return fileUri(this.path(name));
  }

  ask = async (method: string, params: object): Promise<unknown> =>
    unwrap(await this.neovim.lua(CALL, method, params));

  /** Replaces the first word of files by another, as a rename does. */
  rename(names: string[], from: string, to: string): WorkspaceEdit {
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: from.length } };
    return {
      changes: Object.fromEntries(names.map((name) => [this.uri(name), [{ range, newText: to }]])),
    };
  }

  /** `meanwhile`: happens once the files are checked. */
  async apply(edit: WorkspaceEdit, meanwhile = () => {}): Promise<Operation> {
    const what = { label: "the rename", place: this.folder };
    const checked = await checkFiles(filesOf(edit), this.folder, this.ask);
    meanwhile();
    const files = new VirtualFiles();
    applyWorkspaceEdit(edit, "utf-16", files);
    return perform({ what, changes: files.changes(), checked, ask: this.ask }, this.log);
  }

  mode(name: string): number {
    return statSync(this.path(name)).mode & 0o7777;
  }

  setMode(name: string, mode: number): void {
    chmodSync(this.path(name), mode);
  }

  /** Files whose names begin with a dot: drafts that were left. */
  hidden(): string[] {
    return [...new Bun.Glob("**/.*").scanSync({ cwd: this.folder, dot: true })];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.neovim[Symbol.asyncDispose]();
  }
}

/** Lets what the executable records go into a folder of its own; call the result at the end. */
export function ownState(): () => void {
  const before = process.env.XDG_STATE_HOME;
  const folder = temporaryFolder();
  process.env.XDG_STATE_HOME = folder;
  return () => {
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
    rmSync(folder, { recursive: true, force: true });
  };
}
