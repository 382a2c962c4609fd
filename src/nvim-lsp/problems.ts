import { isAbsolute } from "node:path";
import { resolvePath } from "../editor/path";
import type { ProblemContext, Problems, ProblemsPort } from "../editor/problems";
import type { FollowedNeovim } from "../locate/followed";

/** Language servers get so long to report on what was just written or loaded. */
const SETTLE_MS = 1_500;
/** Files that are not open are loaded some at a time, so that Neovim never stands still. */
const LOAD_MS = 15_000;

/** Diagnostics from whichever Neovim is followed. What Lua answers is not validated again. */
export class NeovimProblems implements ProblemsPort {
  readonly #neovim: FollowedNeovim;
  readonly #session: { session?: string; pid: number };

  /** `session` is the Claude session's id, `pid` the CLI's: its session changes with `/clear`. */
  constructor(neovim: FollowedNeovim, session: { session?: string; pid: number }) {
    this.#neovim = neovim;
    this.#session = session;
  }

  all(): Promise<Problems> {
    return this.#list("problems", {});
  }

  of(files: readonly string[][]): Promise<Problems> {
    return this.#list("problems", { files, load: true });
  }

  ofSession(): Promise<Problems> {
    return this.#list("session_problems", this.#session);
  }

  async around(file: readonly string[], line: number, count: number): Promise<ProblemContext> {
    const params = { file, line, before: count, after: count };
    return (await this.#neovim.ask("problem_context", params)) as ProblemContext;
  }

  candidates(path: string): string[] {
    const here = this.#neovim.places.map((place) => resolvePath(path, place));
    // As it is, too: our own answers name files from Neovim's folder.
    return [...new Set(isAbsolute(path) ? here : [...here, path])];
  }

  #list(method: string, params: object): Promise<Problems> {
    return this.#neovim.askWhenSettled(method, params, SETTLE_MS, LOAD_MS);
  }
}
