import type { Diagnostic, Encoding } from "../../editor/model";
import { type CheckedFile, checkFiles } from "../../edits/check";
import { join, joinChanges } from "../../edits/join";
import type { Operation } from "../../edits/operation";
import { perform } from "../../edits/perform";
import type { Judge } from "../../edits/text-edits";
import { changeEvents, type FileChange, VirtualFiles } from "../../edits/virtual-files";
import { applyWorkspaceEdit, filesOf, parseWorkspaceEdit } from "../../edits/workspace-edit";
import { message } from "../../lib/errors";
import type { Log } from "../../lib/log";
import { realPath } from "../../lib/paths";
import type { FollowedNeovim } from "../../locate/followed";
import { recordLanguageEdit } from "../../review/record/language-edit";
import type { NeovimProblems, Problems } from "../neovim/problems";
import { newProblems, type ProblemsAfter } from "./new-problems";

/** A call may last that long while language servers work. */
const TASK_MS = 20_000;
/** Neovim loads each file that a session has edited, for the check at the end of Claude's turn. */
const MOST_CHECKED = 50;

/** What lua/claude-code/editor/edits answers of a server. */
export interface ServerEdit {
  edit: unknown;
  encoding: Encoding;
  server: string;
}

/** A tool's edit of many files. */
export interface LanguageEdit {
  tool: string;
  /** For the user: "the rename of a to b". */
  label: string;
  use: string | undefined;
  edits: readonly ServerEdit[];
  /** The file that is moved besides. */
  move?: { from: string; to: string };
  judge?: Judge | undefined;
  preview?: boolean | undefined;
}

export interface Applied {
  changes: readonly FileChange[];
  problems: ProblemsAfter;
  /** Why the second step was not done. */
  problem?: string;
}

interface Made {
  operation?: Operation;
  changes: readonly FileChange[];
  /** Problems of the files that were open. */
  before: ReadonlyMap<string, Diagnostic[]>;
}

/** Makes edits of language servers, and reports them to all who want to know. */
export class LanguageEdits {
  /** `session`: as NeovimProblems takes it. */
  constructor(
    private readonly neovim: FollowedNeovim,
    private readonly problems: NeovimProblems,
    private readonly session: { session?: string; pid: number },
    private readonly log: Log,
  ) {}

  /** The project's folder. */
  get place(): string {
    return realPath(this.neovim.places[0] ?? process.cwd());
  }

  /**
   * `next`: gives the edits of a second step, once servers know the first; both are one operation. Throws
   * EditProblem, EditorRefusal and EditorBusyError; then no file is changed.
   */
  async apply(edit: LanguageEdit, next?: () => Promise<readonly ServerEdit[]>): Promise<Applied> {
    let made = await this.#make(edit);
    if (!made.operation) return { changes: made.changes, problems: { items: [], known: [] } };
    await this.#notify(made.changes, edit.move);
    let problem: string | undefined;
    try {
      const edits = (await next?.()) ?? [];
      if (edits.length > 0) {
        const second = await this.#make({ ...edit, edits });
        if (second.operation) {
          await this.#notify(second.changes);
          made = {
            operation: join(made.operation as Operation, second.operation),
            changes: joinChanges(made.changes, second.changes),
            before: new Map([...second.before, ...made.before]),
          };
        }
      }
    } catch (error) {
      problem = message(error);
    }
    const problems = await this.#report(edit, made);
    return { changes: made.changes, problems, ...(problem !== undefined && { problem }) };
  }

  /** Without an operation nothing was changed. */
  async #make(edit: LanguageEdit): Promise<Made> {
    const ask = (method: string, params: object, ms?: number) =>
      this.neovim.ask(method, params, ms);
    const parsed = edit.edits.map(({ edit, encoding, server }) => ({
      edit: parseWorkspaceEdit(edit, server),
      encoding,
    }));
    const moved = edit.move ? [edit.move.from, edit.move.to] : [];
    const files = [
      ...parsed.flatMap((one) => filesOf(one.edit)),
      ...moved.map((path) => ({ path: realPath(path) })),
    ];
    const checked = await checkFiles(files, this.place, ask);
    const virtual = new VirtualFiles(edit.judge);
    for (const one of parsed) applyWorkspaceEdit(one.edit, one.encoding, virtual);
    if (edit.move) virtual.move(edit.move.from, edit.move.to);
    const changes = virtual.changes();
    if (edit.preview || changes.length === 0) return { changes, before: new Map() };
    const before = await this.#open(checked);
    const what = { label: edit.label, place: this.place };
    const operation = await perform({ what, changes, checked, ask }, this.log);
    return { operation, changes, before };
  }

  async #notify(changes: readonly FileChange[], move?: LanguageEdit["move"]): Promise<void> {
    const paths = move && { old_path: move.from, new_path: move.to };
    await this.#try("Notifying language servers", () =>
      this.neovim.runTask("edits_done", { changes: changeEvents(changes), ...paths }, TASK_MS),
    );
  }

  /** The files are changed, whatever fails now. */
  async #report(edit: LanguageEdit, { operation, changes, before }: Made): Promise<ProblemsAfter> {
    const session = await this.#try("The check at the end of the turn", () =>
      this.#edited(changes),
    );
    await this.#try("Recording for the review", async () =>
      this.#record(edit, operation as Operation, changes, session),
    );
    const after = await this.#try("Asking for problems", () =>
      newProblems(this.problems, changes, before),
    );
    return after ?? { items: [], known: [] };
  }

  /** The problems of the files that are open, as Neovim knows them now. */
  async #open(checked: readonly CheckedFile[]): Promise<ReadonlyMap<string, Diagnostic[]>> {
    const answer = await this.#try("Asking for problems", () => this.neovim.ask("problems", {}));
    const files = (answer as Problems | undefined)?.files ?? [];
    const open = checked.filter(({ tick }) => tick !== undefined);
    return new Map(
      open.map(({ path }) => [path, files.find(({ real }) => real === path)?.items ?? []]),
    );
  }

  async #edited(changes: readonly FileChange[]): Promise<string | undefined> {
    let session: string | undefined;
    for (const { path, before } of changes.filter(({ after }) => after).slice(0, MOST_CHECKED)) {
      // One at a time: Neovim may load the file.
      const edits = [{ path, created: !before }];
      const answer = await this.neovim.ask("session_changed", { ...this.session, edits });
      session = (answer as { session?: string }).session;
    }
    return session;
  }

  #record(
    { tool, use }: LanguageEdit,
    operation: Operation,
    changes: readonly FileChange[],
    session: string | undefined = this.session.session,
  ): void {
    if (session === undefined) return;
    recordLanguageEdit(operation.stored.place, operation.id, { session, tool, use }, changes);
  }

  async #try<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.log.warn(`${what} failed: ${message(error)}`);
      return undefined;
    }
  }
}
