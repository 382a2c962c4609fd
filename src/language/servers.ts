import type { MethodName, Params, Result } from "../editor/methods";
import type { FollowedNeovim } from "../locate/followed";
import { ChangedFiles } from "./changed-files";
import { ProjectFiles } from "./project-files";

/** A whole question, with all waits. */
const LIMIT_MS = 20_000;

export const RELATIONS = ["references", "implementations"] as const;
export type Relation = (typeof RELATIONS)[number];

/**
 * The language servers of whichever Neovim is followed. Calls reject with EditorBusyError, or with
 * EditorRefusal in a sentence that says what to do instead.
 */
export class LanguageServers {
  readonly project: ProjectFiles;
  /** What changes in the project from its start on is reported to the servers before a question. */
  readonly changed: ChangedFiles;

  constructor(private readonly neovim: FollowedNeovim) {
    this.project = new ProjectFiles(neovim.places[0] ?? process.cwd());
    this.changed = new ChangedFiles(this.project);
  }

  /** The file and all others are as on disk by then. */
  async ask<M extends MethodName>(
    method: M,
    path: string | undefined,
    params: Omit<Params<M>, "file" | "named" | "changes">,
    signal?: AbortSignal,
  ): Promise<Result<M>> {
    // Throws EditorRefusal for what cannot be a file.
    const file = path === undefined ? {} : { file: this.neovim.candidates(path), named: path };
    const all = { ...params, ...file, changes: await this.changed.take() } as unknown as Params<M>;
    return this.neovim.runTask(method, all, LIMIT_MS, signal);
  }
}
