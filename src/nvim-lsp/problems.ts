import { resolve } from "node:path";
import type { ProblemContext, Problems, ProblemsPort } from "../editor/problems";
import type { FollowedNeovim } from "../locate/followed";

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
    return this.#ask("problems", {});
  }

  of(files: readonly string[][]): Promise<Problems> {
    return this.#ask("problems", { files, load: true });
  }

  ofSession(): Promise<Problems> {
    return this.#ask("session_problems", this.#session);
  }

  around(file: readonly string[], line: number, count: number): Promise<ProblemContext> {
    return this.#ask("problem_context", { file, line, before: count, after: count });
  }

  candidates(path: string): string[] {
    const here = this.#neovim.places.map((place) => resolve(place, path));
    // As it is, too: our own answers name files from Neovim's folder.
    return [...new Set([...here, path])];
  }

  #ask<T>(method: string, params: object): Promise<T> {
    return this.#neovim.ask(method, params) as Promise<T>;
  }
}
