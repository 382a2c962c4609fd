import { EDITING_TOOLS, OTHER_TOOLS_MATCHER } from "../claude/names";
import { message } from "../lib/errors";
import { stateFolder } from "../lib/paths";
import { differingPaths } from "./git/differing";
import { sameContent } from "./journal/blobs";
import { noteIncomplete, pathBelow } from "./journal/folder";
import { withRenames } from "./record/bash-changes";
import { changedAt } from "./record/compare";
import { KnownContents } from "./record/known";
import { callFields, type RecordedProject, type ToolCall } from "./record/recorded-project";
import { Recorder } from "./record/recorder";
import { snapshotFile } from "./record/snapshot";
import type { ReviewedProject } from "./state/reviewed-project";
import { SLACK_MS } from "./state/spans";

/** A call of a tool that has ended, as the CLI's transcript has it. */
export interface EndedCall extends ToolCall {
  use: string;
  /** In ms since the epoch. */
  began: number;
  durationMs: number;
  /** It failed, or continues in the background: hooks may have recorded nothing of it although they run. */
  isVague: boolean;
}

/** Agents' own calls are in transcripts of their own. */
const AGENTS = ["Agent", "Task"];
const COMMAND = new RegExp(`^(?:${OTHER_TOOLS_MATCHER}|${AGENTS.join("|")})$`);

/**
 * Finds what hooks did not record in a project. They end before the CLI writes the end of their call into its
 * transcript (measured with 2.1.332): a call that the journal lacks then has none, and is recorded here as far as
 * that is known.
 */
export class Unrecorded {
  /** When the first of those calls began, in ms since the epoch. */
  #since = Number.POSITIVE_INFINITY;
  #problem: string | undefined;

  constructor(private readonly project: ReviewedProject) {}

  /** Takes a call that no hook has recorded. */
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
      // Before the first record: a comparison beside this must not find what the second one has.
      const differing = isEdit ? undefined : await git?.run(differingPaths(root));
      recorder.change(call, false);
      recordByTime(recorder.project, call, differing?.paths ?? []);
      this.project.refresh();
      // It may have changed nothing.
      if (isEdit && !sessions.knows(call.session, call.use)) return;
    } catch (error) {
      this.#problem = message(error);
    }
    this.#since = Math.min(this.#since, call.began);
    noteIncomplete(folder);
  }

  /** For the user: that hooks record nothing, and why; undefined if they do. */
  get sentence(): string | undefined {
    if (this.#since === Number.POSITIVE_INFINITY) return undefined;
    // The "sv" locale formats as ISO 8601.
    const time = new Date(this.#since).toLocaleTimeString("sv");
    if (this.#problem) {
      const why = `${stateFolder()} cannot be written (${this.#problem})`;
      return `see git diff: Claude's changes have not been recorded since ${time}: ${why}`;
    }
    const why = `it cannot start ${process.execPath}, or has other settings or another $XDG_STATE_HOME`;
    return `Claude's hooks have not run since ${time}: the list comes from its conversation and git (${why})`;
  }

  /** The user knows of it. */
  done(): void {
    this.#since = Number.POSITIVE_INFINITY;
    this.#problem = undefined;
  }
}

/** Records which of these paths have changed while the call ran, and no record explains. */
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
  const change = { type: "change", ...callFields(call), source: "trees" } as const;
  project.append({ ...change, files: withRenames(files), head: project.head() });
}
