import { claudeFolder } from "../../claude/config-dir";
import { runsOthersAfter } from "../../claude/hooks";
import { leftBehind } from "../../claude/left-behind";
import { EDITING_TOOLS } from "../../claude/names";
import { sessionStatus } from "../../claude/running-sessions";
import { settingsFiles, settingsPaths } from "../../claude/settings-files";
import { ownProcess } from "../../lib/process";
import { MAX_TEXT_BYTES, sameContent } from "../journal/blobs";
import { pathBelow } from "../journal/folder";
import type { Content, FileChange, RecordOf } from "../journal/record";
import { bashChanges } from "./bash-changes";
import { type FileState, readState } from "./file-state";
import { isDoubtful, KnownContents, recordRunning } from "./known";
import { callFields, RecordedProject, shortened, type ToolCall } from "./recorded-project";

/** Whether a detached process must now compare the work tree. */
export type Comparison = "compare" | "enough";

const WITHOUT_GIT =
  "Outside a git repository, changes by commands are known only for files that Claude edited before, or that are open in Neovim.";

/** Commands that stage files. Their entries count as Claude's until something else writes the index. */
const STAGING = /\bgit\b.*\b(add|mv|rm|stage|apply|restore|reset)\b/s;

/**
 * Records the work of a Claude session in one project. Every method throws the system's error (ENOSPC, EACCES, …) if it
 * cannot write the journal; the hook continues without the record.
 */
export class Recorder {
  readonly project: RecordedProject;
  readonly #started: number;

  /**
   * `projectFolder` is CLAUDE_PROJECT_DIR. `started` is when the hook's process started, in ms since the epoch: on a busy
   * machine, long before it can record anything.
   */
  constructor(projectFolder: string, started = Date.now()) {
    this.project = new RecordedProject(projectFolder);
    this.#started = Math.floor(started);
  }

  /** Records a new turn. Changes since the last turn are not Claude's, unless a call was interrupted. */
  prompt(session: string, prompt: string | undefined, text: string): Comparison {
    const head = this.project.head();
    const state = sessionStatus(session);
    const idle = state?.status === "idle" ? state.since : undefined;
    this.project.append({ type: "prompt", session, prompt, text: shortened(text), idle, head });
    return "compare";
  }

  /**
   * Records the beginning of a call of Bash or an MCP tool, which may change files from now on. The CLI starts the hook
   * before the call and does not wait for it, so this record may follow the record of the call's end. The comparison
   * captures the files before the call if it finishes in time. `pid` is the CLI's process.
   */
  begin(call: ToolCall, pid?: number, skill?: true): Comparison {
    const { use } = call;
    if (use === undefined) return "enough";
    const cli = pid === undefined ? undefined : { pid, pidDomain: ownProcess().domain };
    const at = this.#started;
    this.project.append({ at, type: "begin", ...callFields(call), use, cli, skill });
    return "compare";
  }

  /** Records the beginning of a skill's shell lines, which nothing ends but the session's next call. */
  beginSkill(call: ToolCall, pid?: number): Comparison {
    return this.begin({ ...call, tool: "Skill" }, pid, true);
  }

  /** Records a file's content before an editing tool changes it. */
  seen({ session, use, path: absolute }: ToolCall): Comparison {
    const path = absolute && pathBelow(this.project.root, absolute, true);
    const content = path && readState(this.project, path)?.content;
    const isPrivate = content && "withheld" in content && content.withheld === "private";
    if (!path || !content || !use || isPrivate) return "enough";
    this.project.append({ type: "seen", session, use, path, content });
    return "enough";
  }

  /**
   * Records a call that succeeded. `asksForDiff` means that the CLI has our setting bashEditDiffEnabled: if it reports no
   * changes for a command, then there are none.
   */
  change(call: ToolCall, asksForDiff: boolean): Comparison {
    if (EDITING_TOOLS.includes(call.tool)) return this.#edited(call);
    // A command in the background has not ended, so its `begin` stays open.
    if ((call.response as { backgroundTaskId?: unknown } | null)?.backgroundTaskId) return "enough";
    const isBash = call.tool === "Bash";
    const known = new KnownContents(this.project);
    const changes = isBash ? bashChanges(this.project, known, call, this.#began(call)) : null;
    recordRunning(this.project, known, call.use, foundBy(changes?.files ?? []));
    const incomplete = this.project.isRepository ? changes?.incomplete : WITHOUT_GIT;
    this.#append(call, "bash", changes?.files ?? [], { incomplete });
    if (STAGING.test(call.command ?? "")) return "compare";
    const isWhole = changes ? !changes.isCut : isBash && asksForDiff && this.project.isRepository;
    return isWhole ? "enough" : "compare";
  }

  /** Records a call that failed or was interrupted. It may still have changed files. */
  failed(call: ToolCall): Comparison {
    if (EDITING_TOOLS.includes(call.tool)) return "enough";
    this.#append(call, "bash", []);
    return "compare";
  }

  /** `background` means that agents or commands still run. `pid` is the CLI's process. */
  stop(session: string, prompt: string | undefined, background: boolean, pid = 0): Comparison {
    const pids = background || pid === 0 ? [] : leftBehind(pid, this.project.root);
    const left = pids.map((one) => ({ pid: one, pidDomain: ownProcess().domain }));
    this.project.append({
      ...{ type: "stop", session, prompt, background: background || left.length > 0 || undefined },
      ...(left.length > 0 && { left }),
    });
    return "compare";
  }

  end(session: string): Comparison {
    this.project.append({ type: "end", session });
    return "compare";
  }

  #edited(call: ToolCall): Comparison {
    const known = new KnownContents(this.project);
    const file = editChange(this.project, known, call);
    if (!file) return "enough";
    recordRunning(this.project, known, call.use, foundBy([file]));
    const settings = settingsFiles(settingsPaths(this.project.root, claudeFolder()));
    const hooked = settings.some(({ content }) => runsOthersAfter(call.tool, content));
    this.#append(call, "tool", [file], { hooked: hooked || undefined });
    return "enough";
  }

  #began({ durationMs }: ToolCall): number | undefined {
    return durationMs === undefined ? undefined : this.#started - durationMs;
  }

  /**
   * Derives the record's id from the call: two installations of our hooks then write the same record, which counts once.
   * The hash distinguishes calls with the same `use`.
   */
  #append(
    call: ToolCall,
    source: "tool" | "bash",
    files: FileChange[],
    more: Pick<RecordOf<"change">, "hooked" | "incomplete"> = {},
  ): void {
    const { use, path, response, durationMs } = call;
    const answer = Bun.hash(JSON.stringify([path, response, durationMs])).toString(36);
    this.project.append({
      ...(use !== undefined && { id: `${call.session}/${use}/${answer}` }),
      ...{ type: "change", ...callFields(call), source, files, began: this.#began(call) },
      ...more,
      head: this.project.head(),
    });
  }
}

function foundBy(changes: readonly FileChange[]) {
  return changes.map(({ path, before }) => ({ path, content: before }));
}

/** The response of Edit and Write (`originalFile`), or of NotebookEdit (`original_file`). */
interface Response {
  type?: unknown;
  originalFile?: unknown;
  original_file?: unknown;
}

/**
 * The change that an editing tool made: `before` comes from the tool's response, `after` from the disk. Undefined if the
 * file is not below the root, or did not change. Throws the system's error.
 */
function editChange(
  project: RecordedProject,
  known: KnownContents,
  call: ToolCall,
): FileChange | undefined {
  const path = call.path && pathBelow(project.root, call.path, true);
  if (!path) return undefined;
  const state = readState(project, path);
  if (!state) return undefined;
  const after = state.content;
  if ("withheld" in after && after.withheld === "private") return { path, before: after, after };
  const before = contentBefore(project, known, path, call, state);
  return sameContent(before, after) ? undefined : { path, before, after };
}

function contentBefore(
  { blobs }: RecordedProject,
  known: KnownContents,
  path: string,
  call: ToolCall,
  { bytes = new Uint8Array(), stats }: FileState,
): Content {
  const response = call.response as Response | null | undefined;
  const seen = known.seen(path, call.use);
  // Null is also a response.
  const text =
    response?.originalFile === undefined ? response?.original_file : response.originalFile;
  if (typeof text === "string") {
    const exact = known.shownAs(path, text, seen);
    if (exact) return exact;
    return isDoubtful(text, bytes) ? { withheld: "unknown" } : blobs.put(Buffer.from(text));
  }
  if (seen) return seen;
  // Null means a new file, or an existing file above the CLI's size limit, which equals ours.
  const isLarge = (stats?.size ?? 0) > MAX_TEXT_BYTES / 2;
  if (text === null && response?.type !== "update" && !isLarge) return { absent: true };
  return known.last(path) ?? { withheld: "unknown" };
}
