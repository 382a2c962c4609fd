import { lstatSync } from "node:fs";
import { join } from "node:path";
import { EDITING_TOOLS, OTHER_TOOLS_MATCHER } from "../claude/names";
import { message } from "../lib/errors";
import { stateFolder } from "../lib/paths";
import { differingPaths } from "./git/differing";
import { Git } from "./git/run";
import { noteIncomplete, pathBelow } from "./journal/folder";
import type { ToolCall } from "./record/recorded-project";
import { Recorder } from "./record/recorder";
import type { Entry } from "./state/entry";
import type { ReviewedProject } from "./state/reviewed-project";
import { SLACK_MS } from "./state/spans";
import { TrackedFile } from "./state/tracked-file";

/** A call of a tool that has ended well, as the CLI's transcript has it. */
export interface EndedCall extends ToolCall {
  use: string;
  /** In ms since the epoch. */
  began: number;
  durationMs: number;
}

const COMMAND = new RegExp(`^(?:${OTHER_TOOLS_MATCHER})$`);

/**
 * What hooks did not record in a project. They end before the CLI writes the end of their call into its transcript
 * (measured with 2.1.332): a call that the journal lacks then has none, and is recorded here as far as that is known.
 */
export class Unrecorded {
  /** When the first of those calls began, and the last one had ended; in ms since the epoch. */
  #since = Number.POSITIVE_INFINITY;
  #until = 0;
  #problem: string | undefined;

  constructor(private readonly project: ReviewedProject) {}

  /** Takes a call that no hook has recorded. */
  take(call: EndedCall): void {
    const { root, sessions, folder } = this.project;
    const isEdit = EDITING_TOOLS.includes(call.tool);
    const isHere = isEdit && call.path !== undefined && pathBelow(root, call.path, true);
    if (!isHere && !COMMAND.test(call.tool)) return;
    const ended = call.began + call.durationMs;
    try {
      new Recorder(root, ended).change(call, false);
      this.project.refresh();
      // It may have changed nothing.
      if (isEdit && !sessions.knows(call.session, call.use)) return;
    } catch (error) {
      this.#problem = message(error);
    }
    this.#since = Math.min(this.#since, call.began);
    this.#until = Math.max(this.#until, ended);
    noteIncomplete(folder);
  }

  /** For the user: that hooks record nothing, and why; undefined where they do. */
  get sentence(): string | undefined {
    if (this.#since === Number.POSITIVE_INFINITY) return undefined;
    // Sweden's times are those of ISO 8601.
    const time = new Date(this.#since).toLocaleTimeString("sv");
    const why = this.#problem
      ? `${stateFolder()} cannot be written (${this.#problem})`
      : `it cannot start ${process.execPath}, or has other settings or another $XDG_STATE_HOME`;
    return `no hook of Claude's has recorded what it did since ${time}, because ${why}; what its conversation and git say is listed`;
  }

  /** Files that git knows to have changed in that time, and no record; beside those that are `listed`. */
  async entries(listed: readonly Entry[]): Promise<Entry[]> {
    const { root, contents } = this.project;
    const git = this.sentence === undefined ? undefined : Git.in(root);
    const { paths = [] } = (await git?.run(differingPaths(root))) ?? {};
    const known = new Set(listed.map(({ file }) => file.path));
    return paths
      .filter((path) => !known.has(path) && this.#isInTime(path) && !this.#isExplained(path))
      .map((path) => ({
        ...{ file: new TrackedFile(path, contents), view: undefined, kind: "unseen" },
        ...{ hunks: [], marks: [], owners: [] },
        cannotUndo: "was changed while nothing was recorded: git diff shows it",
      }));
  }

  #isInTime(path: string): boolean {
    try {
      const { ctimeMs } = lstatSync(join(this.project.root, path));
      return ctimeMs >= this.#since - SLACK_MS && ctimeMs <= this.#until + SLACK_MS;
    } catch {
      return false; // gone: when, nobody knows
    }
  }

  /** Does it hold what was recorded last? */
  #isExplained(path: string): boolean {
    const file = this.project.files.get(path);
    return file?.weave !== undefined && this.project.view(file)?.weave === file.weave;
  }

  /** The user knows of it. */
  done(): void {
    this.#since = Number.POSITIVE_INFINITY;
    this.#problem = undefined;
  }
}
