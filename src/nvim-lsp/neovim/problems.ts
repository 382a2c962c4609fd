import type { Params } from "../../editor/methods";
import type { ProblemContext, Problems } from "../../editor/model";
import type { FollowedNeovim } from "../../locate/followed";

/**
 * Language servers get so long to report on what was just written or loaded. Files that are not open are loaded
 * some at a time, so that Neovim never stands still.
 */
const TIMES = { waitMs: 1_500, busyMs: 15_000 };

/**
 * Diagnostics from whichever Neovim is followed. A file is given by the absolute paths it may have, most
 * likely first. Lists wait up to 1.5 s until they are settled. Calls reject with EditorBusyError or
 * EditorRefusal. What Lua answers is not validated again.
 */
export class NeovimProblems {
  /** `session` is the Claude session's id, `pid` the CLI's: its session changes with `/clear`. */
  constructor(
    private readonly neovim: FollowedNeovim,
    private readonly session: { session?: string; pid: number },
  ) {}

  /** All files with problems. */
  all(): Promise<Problems> {
    return this.#list("problems", {});
  }

  /** The named files. Those of the workspace that are not open are loaded for it. */
  of(files: readonly string[][]): Promise<Problems> {
    return this.#list("problems", { files, load: true });
  }

  /** The files that the Claude session of this server has edited since it last stopped. */
  ofSession(): Promise<Problems> {
    return this.#list("session_problems", this.session);
  }

  /** A line and `count` lines before and behind it. EditorRefusal "not_open" or "no_line". */
  around(file: readonly string[], line: number, count: number): Promise<ProblemContext> {
    return this.neovim.ask("problem_context", { file, line, count });
  }

  /** The paths a client may mean. Throws EditorRefusal for what cannot be a file. */
  candidates(path: string): string[] {
    return this.neovim.candidates(path);
  }

  #list<M extends "problems" | "session_problems">(
    method: M,
    params: Params<M>,
  ): Promise<Problems> {
    return this.neovim.askWhenSettled(method, params, TIMES);
  }
}
