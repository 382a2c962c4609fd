import { EDITING_TOOLS, OTHER_TOOLS_MATCHER } from "../claude/names";
import { message } from "../lib/errors";
import { stateFolder } from "../lib/paths";
import { differingPaths } from "./git/differing";
import { sameContent } from "./journal/blobs";
import { noteIncomplete, pathBelow } from "./journal/folder";
import { withRenames } from "./record/bash-changes";
import { changedAt } from "./record/compare";
import { KnownContents } from "./record/known";
import type { RecordedProject, ToolCall } from "./record/recorded-project";
import { Recorder } from "./record/recorder";
import { snapshotFile } from "./record/snapshot";
import type { ReviewedProject } from "./state/reviewed-project";
import { SLACK_MS } from "./state/spans";

/** A call that has ended, from the CLI's transcript. */
export interface EndedCall extends ToolCall {
  use: string;
  /** In ms since the epoch. */
  began: number;
  durationMs: number;
  /** Whether the call failed or continues in the background. Working hooks may then have recorded nothing. */
  isVague: boolean;
  /** Why the session's CLI runs no hooks, if we know. */
  off?: string | undefined;
}

/** Each agent has its own transcript. */
const AGENTS = ["Agent", "Task"];
const COMMAND = new RegExp(`^(?:${OTHER_TOOLS_MATCHER}|${AGENTS.join("|")})$`);

/**
 * Finds calls in a project that hooks did not record. Hooks end before the CLI writes the end of the call into its
 * transcript (measured with 2.1.332). If the journal then lacks the call, no hook ran, and we record what we know of it.
 */
export class Unrecorded {
  /** When the first unrecorded call began, in ms since the epoch. */
  #since = Number.POSITIVE_INFINITY;
  #problem: string | undefined;
  #off: string | undefined;

  constructor(private readonly project: ReviewedProject) {}

  /** Records a call that no hook has recorded. */
  async take(call: EndedCall): Promise<void> {
    const { root, sessions, folder } = this.project;
    const isEdit = EDITING_TOOLS.includes(call.tool);
    const isHere = isEdit && call.path !== undefined && pathBelow(root, call.path, true);
    if (isEdit ? !isHere || call.isVague : !COMMAND.test(call.tool)) return;
    const isVague = call.isVague || AGENTS.includes(call.tool);
    if (isVague && (!call.prompt || sessions.turn(call.session, call.prompt))) return;
    try {
      const recorder = new Recorder(root, call.began + call.durationMs);
      const { git } = recorder.project;
      // Ask git before the first record, so that a concurrent comparison does not find the changes of the second.
      const differing = isEdit ? undefined : await git?.run(differingPaths(root));
      recorder.change(call, false);
      recordByTime(recorder.project, call, differing?.paths ?? []);
      this.project.refresh();
      // The call may have changed nothing.
      if (isEdit && !sessions.knows(call.session, call.use)) return;
    } catch (error) {
      this.#problem = message(error);
    }
    this.#since = Math.min(this.#since, call.began);
    this.#off = call.off;
    noteIncomplete(folder);
  }

  /** A sentence for the user: hooks record nothing, and why; undefined if they work. */
  get sentence(): string | undefined {
    if (this.#since === Number.POSITIVE_INFINITY) return undefined;
    // The "sv" locale formats as ISO 8601.
    const time = new Date(this.#since).toLocaleTimeString("sv");
    if (this.#problem) {
      const why = `${stateFolder()} cannot be written (${this.#problem})`;
      return `see git diff: Claude's changes have not been recorded since ${time}: ${why}`;
    }
    const why =
      this.#off ??
      `its CLI cannot start ${process.execPath}, or has --bare, other settings or another $XDG_STATE_HOME`;
    return `Claude's hooks have not run since ${time} (${why}): a review lists what its conversation and git show`;
  }

  /** The user knows about the problem. */
  done(): void {
    this.#since = Number.POSITIVE_INFINITY;
    this.#problem = undefined;
  }
}

/** Records the changes of these paths that happened while the call ran, and that no record explains. */
function recordByTime(project: RecordedProject, call: EndedCall, paths: readonly string[]): void {
  const { root } = project;
  const known = new KnownContents(project);
  const files = paths.flatMap((path) => {
    const file = snapshotFile(project, path);
    const changed = file ? changedAt(root, path, file) - call.began : Number.NEGATIVE_INFINITY;
    if (!file || changed < -SLACK_MS || changed > call.durationMs + SLACK_MS) return [];
    const before = known.last(path) ?? ({ withheld: "unknown" } as const);
    return sameContent(before, file.content) ? [] : [{ path, before, after: file.content }];
  });
  if (files.length === 0) return;
  project.appendFound(call, { files: withRenames(files), head: project.head() });
}
